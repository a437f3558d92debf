import CCurl
import CivilTime

/// Sends one request after another to similar addresses. It has an easy handle of libcurl, which
/// keeps its settings. A request replaces the one before, if that has not ended.
@safe
package final class HTTPTransfer {
    /// Receives the answer, or why no answer came.
    package typealias Completion = (Result<HTTPResponse, TransferError>) -> Void

    /// A request in flight. It keeps its transfer alive until it has ended.
    private final class Attempt {
        let transfer: HTTPTransfer
        let prepared: PreparedRequest
        let startedAt: Boottime
        let receiver: StreamReceiver?
        let completion: Completion
        var hasBegun = false
        var isRepeated = false
        var redirect: Redirect
        var url: String
        var incoming = ResponseAccumulator()

        init(
            _ prepared: PreparedRequest, by transfer: HTTPTransfer, to receiver: StreamReceiver?,
            at now: Boottime, completion: @escaping Completion
        ) {
            self.transfer = transfer
            self.prepared = prepared
            self.receiver = receiver
            self.completion = completion
            startedAt = now
            url = prepared.request.url
            redirect = Redirect(from: url)
        }
    }

    let handle: EasyHandle
    private let client: HTTPClient
    private var attempt: Attempt?

    /// A transfer that has sent nothing. It shares the connections of the client unless `usesOwnConnection`: then
    /// each request has one of its own, which is closed afterwards. Throws if memory runs out.
    package init(_ client: HTTPClient, usesOwnConnection: Bool = false) throws(TransferError) {
        self.client = client
        handle = try EasyHandle()
        try unsafe handle.setUp(userdata: Unmanaged.passUnretained(self).toOpaque())
        if usesOwnConnection { try handle.useOwnConnection() }
    }

    /// Sends a request; `completion` is called exactly once, inside the time limit and never from
    /// within this call, unless it throws, `cancel()` is called or another request is sent.
    ///
    /// With a `receiver` an answer of status 200 is a stream, which it takes part by part, within limits of
    /// time and size of its own; the response has no body. From then on the transfer is for streams alone.
    package func send(
        _ prepared: PreparedRequest, to receiver: StreamReceiver? = nil,
        completion: @escaping Completion
    ) throws(TransferError) {
        cancel()
        if let file = prepared.request.authorities {
            try handle.set(authorities: client.spelling(of: file))
        }
        if receiver != nil { try handle.prepareForStreams() }
        try handle.set(makesConnection: false)
        try handle.configure(for: prepared)
        // The answer may begin to come before libcurl gives the control back.
        let attempt = Attempt(
            prepared, by: self, to: receiver, at: client.now, completion: completion)
        self.attempt = attempt
        do {
            try handle.aim(
                at: attempt.url, within: receiver == nil ? prepared.request.timeout : nil)
            try client.add(self)
        } catch {
            self.attempt = nil
            throw error
        }
    }

    /// Ends the request in flight, if there is one; its completion is not called.
    package func cancel() {
        guard attempt != nil else { return }
        client.remove(self)
        attempt = nil
    }

    /// Takes a line of the headers; false ends the transfer.
    func receive(header line: UnsafeRawBufferPointer) -> Bool {
        guard let attempt, unsafe attempt.incoming.receive(header: line) else { return false }
        return startStream(attempt)
    }

    /// Tells the receiver of a stream, once the headers have come, that it begins.
    private func startStream(_ attempt: Attempt) -> Bool {
        guard let receiver = attempt.receiver, !attempt.hasBegun,
            attempt.incoming.headers.isComplete, attempt.incoming.headers.status == 200
        else { return true }
        attempt.hasBegun = true
        return attempt.incoming.refuseCoding() && receiver(.head(attempt.incoming.headers))
    }

    /// Takes a part of the body, without its transfer coding; false ends the transfer.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard let attempt else { return false }
        if attempt.hasBegun, let receiver = attempt.receiver {
            return receiver(.body(unsafe Array(bytes)))
        }
        return unsafe attempt.incoming.receive(
            body: bytes, limit: attempt.prepared.request.maxBody,
            keptOfRefusal: attempt.prepared.request.keptOfRefusal)
    }

    /// Tells of the end of the transfer, which libcurl has given back, repeats it or follows a redirect.
    func transferEnded(_ code: CURLcode) {
        guard let attempt else { return }
        do {
            let response = try answer(code, of: attempt)
            if try repeatRequest(after: response, of: attempt) { return }
            if try followRedirect(response, of: attempt) { return }
            self.attempt = nil
            attempt.completion(.success(response))
        } catch {
            self.attempt = nil
            attempt.completion(.failure(error))
        }
    }

    private func answer(
        _ code: CURLcode, of attempt: Attempt
    ) throws(TransferError) -> HTTPResponse {
        let incoming = attempt.incoming
        // An error status needs its headers only, even if its body breaks off.
        let isRefusal = incoming.headers.isComplete && incoming.headers.status >= 300
        if code != CURLE_OK, !isRefusal {
            throw incoming.refusal
                ?? handle.error(code, from: attempt.url, timeout: attempt.prepared.request.timeout)
        }
        guard isRefusal || incoming.isWhole else { throw .cutShort }
        return HTTPResponse(headers: incoming.headers, body: incoming.body)
    }

    /// Repeats the request once on a new connection if the answer is a 408 on one that was idle, and returns whether it
    /// does. A server or proxy sends a 408 before it closes an idle connection (RFC 9110 §15.5.9): it had not read
    /// the request.
    private func repeatRequest(
        after response: HTTPResponse, of attempt: Attempt
    ) throws(TransferError) -> Bool {
        guard response.status == 408, !attempt.isRepeated, handle.hasReusedConnection else {
            return false
        }
        attempt.isRepeated = true
        try handle.set(makesConnection: true)
        try send(attempt, to: attempt.url)
        return true
    }

    private static let redirects = [301, 302, 303, 307, 308]

    /// Follows the answer if it is a redirect, and returns whether it was a redirect.
    private func followRedirect(
        _ response: HTTPResponse, of attempt: Attempt
    ) throws(TransferError) -> Bool {
        guard Self.redirects.contains(response.status), attempt.prepared.request.body == nil,
            attempt.receiver == nil,
            attempt.prepared.request.followsRedirects, let url = handle.redirectTarget
        else { return false }
        try attempt.redirect.follow(url, from: attempt.url)
        try send(attempt, to: url)
        return true
    }

    /// Sends the request of an attempt again, within the time that is left of its limit.
    private func send(_ attempt: Attempt, to url: String) throws(TransferError) {
        let limit = attempt.prepared.request.timeout
        let left = limit - (client.now - attempt.startedAt)
        guard left > .zero else { throw .timedOut(limit) }
        attempt.url = url
        attempt.incoming.advance()
        try handle.aim(at: url, within: left)
        try client.add(self)
    }
}
