import CivilTime
import Decision
import HTTP
import SourceSettings

/// Reads the keys at one member, after a login where the cluster wants one. It keeps its connection from
/// fetch to fetch.
final class MemberFetch {
    /// Receives the keys and the answer that they came in, or why they did not come.
    typealias Completion = (Result<(Snapshot, HTTPResponse), Failed>) -> Void

    /// Why a member gave no keys.
    struct Failed: Error {
        let failure: Failure
        /// Whether another member may give them; false for a wrong password.
        let mayOthersAnswer: Bool
    }

    private let member: Int
    private let access: ClusterAccess
    private let fetch: Fetch
    private var hasLoggedIn = false
    private var completion: Completion?

    /// Reads at a member, by its position among the endpoints. It sends nothing yet.
    init(at member: Int, _ access: ClusterAccess) {
        self.member = member
        self.access = access
        // The time that is left differs from one member to the next.
        fetch = Fetch(
            "", limit: access.settings.limits.timeout, timeout: "no complete answer in time",
            isDecidedOn: true, for: access.context)
    }

    /// Reads the keys. `completion` is called exactly once, by the deadline, unless `cancel` or `start` is called
    /// before.
    func start(until deadline: Boottime, completion: @escaping Completion) {
        fetch.start(until: deadline)
        hasLoggedIn = false
        self.completion = completion
        send(.range(prefix: access.settings.prefix))
    }

    /// Ends the request in flight.
    func cancel() {
        fetch.cancel()
        completion = nil
    }

    /// Services have decided by the keys.
    func answerDecided() { fetch.answerDecided() }

    /// Ends the request in flight and closes the connection.
    func stop() {
        fetch.stop()
        completion = nil
    }

    private func send(_ question: GatewayRequest) {
        fetch.operation = "\(question.operation) '\(access.settings.endpoints[member])'"
        do {
            let request = try access.request(question, to: member)
            fetch.send(request) { [unowned self] in responseArrived($0, to: question) }
        } catch {
            memberFailed(Failure(.unreachable, "\(error)"), mayOthersAnswer: false)
        }
    }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, to question: GatewayRequest
    ) {
        let response: HTTPResponse
        switch result {
        case .success(let answer): response = answer
        case .failure(let failure): return memberFailed(failure, mayOthersAnswer: true)
        }
        do throws(GatewayError) {
            let object = try response.gatewayObject(now: access.context.now.wall)
            guard question.isLogin else {
                let snapshot = try Snapshot(object, prefix: access.settings.prefix)
                return finish(.success((snapshot, response)))
            }
            try access.storeToken(from: object)
            send(.range(prefix: access.settings.prefix))
        } catch {
            recover(from: error, of: question)
        }
    }

    /// Repeats the request after a login or without a token; else the member has failed.
    private func recover(from error: GatewayError, of question: GatewayRequest) {
        let failure = error.failure(of: fetch.operation)
        switch error {
        case .loginNeeded:
            guard !hasLoggedIn else { return memberFailed(failure, mayOthersAnswer: false) }
            hasLoggedIn = true
            do {
                guard let login = try access.logIn() else {
                    return memberFailed(failure, mayOthersAnswer: false)
                }
                send(login)
            } catch {
                memberFailed(Failure(.unreachable, "\(error)"), mayOthersAnswer: false)
            }
        case .loginNotWanted:
            guard question.isLogin else { return memberFailed(failure, mayOthersAnswer: false) }
            send(.range(prefix: access.settings.prefix))
        case .refused: memberFailed(failure, mayOthersAnswer: false)
        case .unavailable, .invalid: memberFailed(failure, mayOthersAnswer: true)
        }
    }

    private func memberFailed(_ failure: Failure, mayOthersAnswer: Bool) {
        finish(.failure(Failed(failure: failure, mayOthersAnswer: mayOthersAnswer)))
    }

    private func finish(_ result: Result<(Snapshot, HTTPResponse), Failed>) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}
