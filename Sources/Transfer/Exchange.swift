import CCurl
import CivilTime

/// One request after another to the same kind of place: an easy handle of libcurl, which keeps what
/// it was told. A request goes out once the one before has ended.
@safe
package final class Exchange {
    package typealias Completion = (Result<Response, TransferError>) -> Void

    /// A request under way.
    private final class Attempt {
        let request: Request
        let startedAt: Boottime
        let completion: Completion
        var redirect: Redirect
        var url: String
        var incoming = Incoming()

        init(_ request: Request, at now: Boottime, completion: @escaping Completion) {
            self.request = request
            self.completion = completion
            startedAt = now
            redirect = Redirect(from: request.url)
            url = request.url
        }
    }

    let handle: EasyHandle
    private let client: Client
    private var attempt: Attempt?

    package init(_ client: Client) throws(TransferError) {
        self.client = client
        handle = try EasyHandle()
        try unsafe handle.setUp(userdata: Unmanaged.passUnretained(self).toOpaque())
    }

    /// Sends a request; `completion` is called exactly once, inside the time limit and never from
    /// within this call, unless it throws or `cancel()` is called.
    package func send(
        _ request: Request, completion: @escaping Completion
    ) throws(TransferError) {
        precondition(attempt == nil, "an exchange carries one request at a time")
        try handle.configure(for: request)
        // The answer may begin to come before libcurl gives the control back.
        attempt = Attempt(request, at: client.now, completion: completion)
        do {
            try ask(request.url, within: request.timeout)
        } catch {
            attempt = nil
            throw error
        }
    }

    /// Ends what is under way. Nothing is told of it.
    package func cancel() {
        guard attempt != nil else { return }
        client.remove(self)
        attempt = nil
    }

    private func ask(_ url: String, within limit: Duration) throws(TransferError) {
        try handle.aim(at: url, within: limit)
        try client.add(self)
    }

    /// Takes a line of the headers; false ends the transfer.
    func take(header line: UnsafeRawBufferPointer) -> Bool {
        unsafe attempt?.incoming.take(header: line) ?? false
    }

    /// Takes a part of the body, decoded; false ends the transfer.
    func take(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard let limit = attempt?.request.maxBody else { return false }
        return unsafe attempt?.incoming.take(body: bytes, limit: limit) ?? false
    }

    /// The transfer has ended, and is out of libcurl's hands: tells of it, or follows a redirect.
    func end(_ code: CURLcode) {
        guard let attempt else { return }
        do {
            let response = try answer(code, of: attempt)
            if try follow(response, of: attempt) { return }
            self.attempt = nil
            attempt.completion(.success(response))
        } catch {
            self.attempt = nil
            attempt.completion(.failure(error))
        }
    }

    private func answer(
        _ code: CURLcode, of attempt: Attempt
    ) throws(TransferError) -> Response {
        let incoming = attempt.incoming
        // The headers say all there is to a refusal, whatever its body does.
        let isRefusal = incoming.headers.isComplete && incoming.headers.status >= 300
        if code != CURLE_OK, !isRefusal {
            throw incoming.refusal
                ?? handle.error(code, from: attempt.url, timeout: attempt.request.timeout)
        }
        return Response(headers: incoming.headers, body: incoming.body)
    }

    /// Whether the answer is a redirect, which is being followed now.
    private func follow(
        _ response: Response, of attempt: Attempt
    ) throws(TransferError) -> Bool {
        guard [301, 302, 303, 307, 308].contains(response.status), let url = handle.redirectTarget
        else { return false }
        let limit = attempt.request.timeout
        let left = limit - (client.now - attempt.startedAt)
        guard left > .zero else { throw .timedOut(limit) }
        do {
            try attempt.redirect.follow(url, from: attempt.url)
        } catch {
            throw .redirect(error)
        }
        attempt.url = url
        attempt.incoming.advance()
        try ask(url, within: left)
        return true
    }
}
