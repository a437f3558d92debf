package import Decision
import EventLoop
package import HTTP
package import POSIX
import Requests

/// A stream that hints at changes of a source's flags: it performs the effects of `StreamMachine`. It delivers
/// `.hinted`, and `.watchChanged` with a problem if no stream is available, and never flags.
package final class Stream<Parser: StreamParser> {
    private let context: SourceDependencies
    private let makeParser: () -> Parser
    private let makeRequest: () throws -> HTTPRequest
    private let explain: (HTTPResponse) -> String?
    private let deliver: Deliver
    private var machine: StreamMachine
    private var timer: Timer?
    private let driver: MachineDriver<StreamEvent>
    private var transfer: HTTPTransfer?
    private var parser: Parser?
    /// The news of the present connection since the last turn.
    private var pending: StreamUpdate?

    /// A stream that is not followed yet. Each connection sends a new `request`, and fails if that throws, and
    /// reads the answer by a new `parser`. `explain` returns the sentence in the body of a refusal, if there is
    /// one. `deliver` stands in for that of the context.
    package init(
        for context: SourceDependencies, _ policy: StreamPolicy, parser: @escaping () -> Parser,
        request: @escaping () throws -> HTTPRequest,
        explain: @escaping (HTTPResponse) -> String? = { _ in nil }, deliver: Deliver? = nil
    ) throws(SystemError) {
        self.context = context
        driver = MachineDriver(on: context.loop)
        makeParser = parser
        makeRequest = request
        self.explain = explain
        self.deliver = deliver ?? context.deliver
        machine = StreamMachine(
            policy, interval: context.interval, seed: UInt64.random(in: .min ... .max))
        timer = try Timer(context.loop, accuracy: .milliseconds(20)) { [unowned self] in
            driver.post(.woke)
        }
        driver.start { [unowned self] in drain() }
    }

    deinit { transfer?.cancel() }

    /// Follows the stream from now on. An open stream is reopened, since the request has changed.
    package func start() { driver.post(.started) }

    /// How many connections in a row did not last, for a source that has several endpoints to ask.
    var failures: Int { machine.failures }

    /// Handles a failed poll. No hint is passed on for as long as the server asks to be left alone.
    package func pollFailed(_ failure: Failure) {
        driver.post(.pollFailed)
        if let wait = failure.retryAfter { driver.post(.retryLater(wait)) }
    }

    /// Handles a successful poll of the source. If polls failed before, the stream is reopened at
    /// once; else nothing happens, since this is called at each poll.
    package func pollSucceeded() {
        if machine.arePollsFailing || !driver.isEmpty { driver.post(.pollSucceeded) }
    }

    private func drain() {
        postUpdates()
        driver.handleEvents { event in
            for effect in machine.handle(event, at: context.now.boot) { perform(effect) }
        }
    }

    private func postUpdates() {
        if let pending { driver.post(.received(pending)) }
        pending = nil
    }

    private func perform(_ effect: StreamEffect) {
        switch effect {
        case .connect: connect()
        case .disconnect:
            transfer?.cancel()
            pending = nil
            driver.removeAll(where: \.isOfConnection)
        case .hint: deliver(.hinted(context.name))
        case .setProblem(let problem): deliver(.watchChanged(context.name, problem: problem))
        case .sleep(let moment): timer?.set(at: moment)
        }
    }

    private func connect() {
        do {
            let request = try makeRequest()
            let transfer = try transfer ?? HTTPTransfer(context.client)
            self.transfer = transfer
            parser = makeParser()
            try transfer.send(
                PreparedRequest(request), to: { [unowned self] in partArrived($0) },
                completion: { [unowned self] in connectionEnded($0) })
        } catch {
            driver.post(.failed((error as? Failure) ?? Failure(.unreachable, "\(error)")))
        }
    }

    /// Keeps the news in a part of the answer until the loop reads it. False ends a failed or flooding stream.
    private func partArrived(_ part: StreamPart) -> Bool {
        var update = pending ?? StreamUpdate()
        guard update.failure == nil, update.bytes <= StreamMachine.floodLimit else { return false }
        switch part {
        case .head(let headers):
            driver.post(.opened)
            parser?.parseHead(headers, &update)
        case .body(let bytes):
            update.bytes += bytes.count
            parser?.parse(bytes, &update)
        }
        pending = update
        driver.requestTurn()
        return true
    }

    private func connectionEnded(_ result: Result<HTTPResponse, TransferError>) {
        if case .success = result {
            var update = pending ?? StreamUpdate()
            parser?.finish(&update)
            pending = update
        }
        postUpdates()
        switch result {
        case .success(let response):
            driver.post(response.status == 200 ? .closed : .failed(refusal(response)))
        case .failure(let error):
            let failure = Failure(.unreachable, "\(error)")
            driver.post(error.isOfConnection ? .lost(failure) : .failed(failure))
        }
    }

    /// The failure of a status other than 200. One that will not change soon is a refusal.
    private func refusal(_ response: HTTPResponse) -> Failure {
        let isTemporary = response.status >= 500 || [408, 425, 429].contains(response.status)
        let sentence = explain(response).map { ": \($0)" } ?? ""
        return Failure(
            isTemporary ? .unreachable : .refused,
            "the server answers \(response.statusText)\(sentence)",
            retryAfter: response.retryAfter(now: context.now.wall))
    }
}

extension TransferError {
    /// Whether the server may be unreachable; false if its answer was rejected.
    fileprivate var isOfConnection: Bool {
        switch self {
        case .unknownName, .notConnected, .proxy, .timedOut, .tls, .broken: true
        case .notStarted, .certificate, .bodyOver, .headersOver, .encoding, .redirect: false
        }
    }
}
