package import Decision
package import EventLoop
package import Faults
package import Transfer

/// A stream that hints at changes of a source's flags, beside the polls: connected, read, given up and
/// connected again, for ever, as `StreamMachine` decides.
///
/// It delivers `.hinted`, and `.unwatched` where no stream can be had. Flags are never taken from it.
package final class Stream<Parser: StreamParser> {
    private let name: SourceName
    private let loop: EventLoop
    private let client: HTTPClient
    private let makeParser: () -> Parser
    private let makeRequest: () throws -> HTTPRequest
    private let explain: (HTTPResponse) -> String?
    private let deliver: Deliver
    private var machine: StreamMachine
    private var timer: Timer?
    private var soon: Deferred?
    private var exchange: Exchange?
    /// Of the connection that there is.
    private var inbox: StreamInbox<Parser>?
    /// Why the connection could not even be begun.
    private var problem: Failure?

    /// A stream that asks anew at each connection what `request` says, and reads the answer by a new
    /// `parser`. Where `request` throws, the connection has failed for that reason. `interval` is that
    /// of the source's polls. `explain` gives the sentence of a refusal, where its body has one.
    package init(
        of name: SourceName, policy: StreamPolicy, interval: Duration, client: HTTPClient,
        loop: EventLoop, parser: @escaping () -> Parser,
        request: @escaping () throws -> HTTPRequest,
        explain: @escaping (HTTPResponse) -> String? = { _ in nil }, deliver: @escaping Deliver
    ) throws(SystemError) {
        self.name = name
        self.loop = loop
        self.client = client
        makeParser = parser
        makeRequest = request
        self.explain = explain
        self.deliver = deliver
        machine = StreamMachine(
            policy, interval: interval, seed: UInt64.random(in: .min ... .max))
        timer = try Timer(loop, accuracy: .milliseconds(20)) { [unowned self] in handle(.woke) }
        soon = Deferred(loop) { [unowned self] in drain() }
    }

    deinit { exchange?.cancel() }

    /// Follows the stream from now on. Where it is open already it is opened anew, since what is to
    /// be asked for has changed.
    package func start() {
        handle(.started)
    }

    /// How many connections in a row did not last. Who can ask several places asks the next by this.
    package var failures: Int { machine.failures }

    /// Takes in that a poll of the source has failed. No hint is passed on for as long as the server
    /// has asked to be left alone.
    package func pollFailed(_ failure: Failure) {
        handle(.pollFailed)
        if let wait = failure.retryAfter { handle(.held(wait)) }
    }

    /// Takes in that a poll of the source has succeeded. After a failure the stream is opened anew at
    /// once; else nothing is done, since this is called at each poll.
    package func pollSucceeded() {
        if machine.arePollsFailing { handle(.pollSucceeded) }
    }

    private func handle(_ event: StreamMachine.Event) {
        for effect in machine.handle(event, at: loop.now.boot) { perform(effect) }
    }

    /// No effect leads to an event before all are performed: what fails at once is told soon.
    private func perform(_ effect: StreamMachine.Effect) {
        switch effect {
        case .connect:
            connect()
        case .disconnect:
            exchange?.cancel()
            inbox = nil
            problem = nil
        case .hint:
            deliver(.hinted(name))
        case .tell(let problem):
            deliver(.unwatched(name, problem: problem))
        case .sleep(let moment):
            if let moment { timer?.set(at: moment) } else { timer?.disarm() }
        }
    }

    private func connect() {
        let inbox = StreamInbox(makeParser()) { [unowned self] in soon?.arm() }
        do {
            let request = try makeRequest()
            let exchange = try exchange ?? Exchange(client)
            self.exchange = exchange
            self.inbox = inbox
            try exchange.send(request, to: inbox) { [unowned self] in end($0) }
        } catch {
            problem = (error as? Failure) ?? Failure(.unreachable, "\(error)")
            soon?.arm()
        }
    }

    /// Takes in what has come.
    private func drain() {
        for event in inbox?.takeEvents() ?? [] { handle(event) }
        guard let failure = problem else { return }
        problem = nil
        handle(.failed(failure))
    }

    private func end(_ result: Result<HTTPResponse, TransferError>) {
        if case .success = result { inbox?.finish() }
        drain()
        inbox = nil
        switch result {
        case .success(let response):
            handle(response.status == 200 ? .closed : .failed(refusal(response)))
        case .failure(let error):
            let failure = Failure(.unreachable, "\(error)")
            handle(error.isOfConnection ? .lost(failure) : .failed(failure))
        }
    }

    /// What another status than 200 means. Where there is no stream, asking often brings none.
    private func refusal(_ response: HTTPResponse) -> Failure {
        let isTemporary = response.status >= 500 || [408, 425, 429].contains(response.status)
        let sentence = explain(response).map { ": \($0)" } ?? ""
        return Failure(
            isTemporary ? .unreachable : .refused,
            "the server answers \(response.statusText)\(sentence)",
            retryAfter: response.retryAfter(now: loop.now.wall))
    }
}

extension TransferError {
    /// Whether the server may be away, rather than answer what is not accepted.
    fileprivate var isOfConnection: Bool {
        switch self {
        case .unknownName, .notConnected, .timedOut, .tls, .broken: true
        case .notStarted, .certificate, .bodyOver, .headersOver, .encoding, .redirect: false
        }
    }
}
