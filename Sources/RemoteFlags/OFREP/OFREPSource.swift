package import Decision
package import EventLoop
import Files
import JSON
package import SourceKinds
package import Transfer

/// Flags as an OpenFeature server evaluates them for this host: all of them in one POST, made
/// conditional by the ETag of the last answer of this run, and the server's streams of events that
/// hint at changes, where it offers such.
package final class OFREPSource: FlagSource {
    package let name: SourceName
    private let server: EvaluationServer
    private let interval: Duration
    private let bearings: Bearings
    private let loop: EventLoop
    private let client: HTTPClient
    private let deliver: Deliver
    private let place: Binding
    /// The request, whose context is the same as long as the process lives.
    private let body: [UInt8]
    private var exchange: Exchange?
    private var streams: [EventStream] = []
    /// What the newest good answer is bound to.
    private var bound: String?
    /// The binding of the newest good answer of this run: its ETag is sent under no other. An answer of
    /// an earlier run may be for another context: the host has another name, or another system.
    private var answered: String?
    /// Whether what the server offers can be followed; told when it changes.
    private var isOfferTold = true

    package init(
        name: SourceName, server: EvaluationServer, interval: Duration, bearings: Bearings,
        client: HTTPClient, loop: EventLoop, deliver: @escaping Deliver
    ) {
        self.name = name
        self.server = server
        self.interval = interval
        self.bearings = bearings
        self.loop = loop
        self.client = client
        self.deliver = deliver
        var site = server.site
        site.url = server.bulkURL
        place = Binding(to: site, saying: JSON.Value.object(server.context).serialized())
        let context = bearings.host.context(with: server.context)
        body = Array(JSON.Value.object(["context": .object(context)]).serialized().utf8)
        if case .success(let secrets) = Result(catching: secrets) { bound = place.text(secrets) }
    }

    deinit { exchange?.cancel() }

    package var binding: String { bound ?? place.text(nil) }

    package func isBound(by stored: String) -> Bool {
        bound.map { $0.utf8.elementsEqual(stored.utf8) } ?? place.covers(stored)
    }

    /// Streams are known from the first answer on.
    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        exchange?.cancel()
        do {
            let secrets = try secrets()
            let binding = place.text(secrets)
            var request = server.site.request(with: secrets, agent: bearings.agent)
            request.url = server.bulkURL + (streams.compactMap(\.refetch).last?.query ?? "")
            request.body = body
            request.keptOfRefusal = 4096
            request.headers.append(Header("Content-Type", "application/json"))
            var isConditional = false
            if answered == binding, let etag = validators.etag {
                request.headers.append(Header("If-None-Match", etag))
                isConditional = true
            }
            let exchange = try exchange ?? Exchange(client)
            self.exchange = exchange
            try exchange.send(request) { [unowned self] in end($0, binding, isConditional) }
        } catch {
            fail(Failure(.unreachable, "\(error)"))
        }
    }

    package func stop() {
        exchange?.cancel()
        exchange = nil
        streams = []
    }

    private func secrets() throws(CredentialError) -> Secrets {
        try Secrets(of: server.site, bearings)
    }

    private func end(
        _ result: Result<HTTPResponse, TransferError>, _ binding: String, _ isConditional: Bool
    ) {
        let response: HTTPResponse
        do {
            response = try result.get()
        } catch {
            return fail(Failure(.unreachable, "evaluate at '\(server.site.shownURL)': \(error)"))
        }
        let now = loop.now.wall
        do throws(Failure) {
            let outcome: Outcome
            if response.status == 304, isConditional {
                outcome = .unchanged
            } else {
                let evaluations = try response.evaluations()
                follow(evaluations.streams)
                outcome = .answer(
                    Answer(
                        body: evaluations.body, flags: evaluations.flags,
                        validators: Validators(etag: response.etag), version: evaluations.version,
                        fetchedAt: now))
            }
            (bound, answered) = (binding, binding)
            for stream in streams { stream.pollSucceeded() }
            deliver(.fetched(name, outcome, date: response.date(now: now)))
        } catch {
            fail(
                Failure(
                    error.kind, "evaluate at '\(server.site.shownURL)': \(error.detail)",
                    retryAfter: response.retryAfter(now: now)))
        }
    }

    private func fail(_ failure: Failure) {
        for stream in streams { stream.pollFailed(failure) }
        deliver(.fetched(name, .failure(failure)))
    }

    /// Follows the streams that the server offers now: at most so many. One that is followed already
    /// goes on, though its address is another each time, as where it holds a token: the newest address
    /// is that of the next connection.
    private func follow(_ entries: [EventStreamEntry]) {
        let addresses = entries.compactMap { EventStreamAddress($0, of: server.site.url) }
            .prefix(Self.streamLimit)
        if streams.count > addresses.count { streams.removeLast(streams.count - addresses.count) }
        for (index, address) in addresses.enumerated() {
            if index < streams.count {
                streams[index].address = address
            } else {
                startStream(at: address)
            }
        }
        tell(isRefused: addresses.isEmpty && !entries.isEmpty)
    }

    private func startStream(at address: EventStreamAddress) {
        do {
            let stream = EventStream(at: address, server: server, bearings: bearings)
            try stream.start(
                of: name, interval: interval, client: client, loop: loop, deliver: deliver)
            streams.append(stream)
        } catch {
            deliver(.unwatched(name, problem: "\(error)"))
        }
    }

    private func tell(isRefused: Bool) {
        guard isRefused == isOfferTold else { return }
        isOfferTold = !isRefused
        let problem = "the server offers streams at addresses that are not accepted"
        deliver(.unwatched(name, problem: isRefused ? problem : nil))
    }

    /// How many streams of a server are followed.
    private static let streamLimit = 4
}

extension HTTPResponse {
    /// The evaluation that a server answers, or why there is none.
    fileprivate func evaluations() throws(Failure) -> Evaluations {
        switch status {
        case 200:
            return try Evaluations(body)
        case 401, 403, 407:
            throw Failure(.refused, "the server answers \(statusText)")
        default:
            let said = errorCode.map { ": \($0)" } ?? ""
            throw Failure(.unreachable, "the server answers \(statusText)\(said)")
        }
    }

    /// The word for what was wrong with the request, where it is one of the protocol's.
    private var errorCode: String? {
        guard case .success(let object) = Result(catching: { try FlagDocument.parse(body) }),
            let code = object["errorCode"]?.string, code.utf8.count <= 40,
            code.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        return code
    }

    /// One of unreasonable length is not kept, so the flags are asked for whole.
    fileprivate var etag: String? {
        headers["etag"].flatMap { $0.isEmpty || $0.utf8.count > 1024 ? nil : $0 }
    }
}
