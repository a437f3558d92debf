import CivilTime
import Decision
import EventLoop
import HTTP
import Requests

/// The requests of one fetch, over a connection that is kept from fetch to fetch. They share a
/// deadline, and a failure names their operation.
///
/// One request is in flight at most: `start()`, `cancel()` and the next one end it without its completion.
final class Fetch {
    /// Receives the answer, or the failure with the operation in its sentence.
    typealias Completion = (Result<HTTPResponse, Failure>) -> Void

    /// The operation of the requests, as the beginning of a failure's sentence: `get 'https://…'`.
    var operation: String
    /// When the fetch has to end. Each request gets the remaining time.
    private(set) var deadline: Boottime
    private let limit: Duration
    private let timeout: String
    private let context: SourceDependencies
    private var transfer: HTTPTransfer?
    private var completion: Completion?
    /// Made once, so that a poll allocates one closure and not two.
    private var complete: HTTPTransfer.Completion = { _ in }

    /// Fetches of at most `limit`. A request that runs out of time fails with the clause `timeout`, by default that
    /// of the limit: the time that is left would hide repetitions.
    init(
        _ operation: String, limit: Duration, timeout: String? = nil,
        for context: SourceDependencies
    ) {
        self.operation = operation
        self.limit = limit
        self.timeout = timeout ?? "\(TransferError.timedOut(limit))"
        self.context = context
        deadline = context.now.boot
        complete = { [unowned self] in ended($0) }
    }

    deinit { transfer?.cancel() }

    var timeLeft: Duration { deadline - context.now.boot }

    /// Begins a fetch, which has to end by `deadline`; by default after the limit.
    func start(until deadline: Boottime? = nil) {
        cancel()
        self.deadline = deadline ?? context.now.boot + limit
    }

    /// Sends a request within the time that is left. `completion` is called exactly once.
    func send(_ request: HTTPRequest, completion: @escaping Completion) {
        var request = request
        request.timeout = max(timeLeft, .milliseconds(1))
        send(PreparedRequest(request), completion: completion)
    }

    /// Sends a request with a time limit of its own. `completion` is called exactly once.
    func send(_ request: PreparedRequest, completion: @escaping Completion) {
        self.completion = completion
        do throws(TransferError) {
            if transfer == nil { transfer = try HTTPTransfer(context.client) }
            try transfer?.send(request, completion: complete)
        } catch {
            ended(.failure(error))
        }
    }

    /// Ends the request in flight.
    func cancel() { transfer?.cancel() }

    /// Ends the request in flight and closes the connection.
    func stop() {
        cancel()
        transfer = nil
    }

    private func ended(_ result: Result<HTTPResponse, TransferError>) {
        guard let completion else { return }
        self.completion = nil
        completion(result.mapError(failure))
    }

    private func failure(_ error: TransferError) -> Failure {
        let cause = if case .timedOut = error { timeout } else { "\(error)" }
        var failure = Failure(.unreachable, "\(operation): \(cause)")
        if case .bodyOver = error { failure.isTooLarge = true }
        return failure
    }
}
