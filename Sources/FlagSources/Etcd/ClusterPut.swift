import CivilTime
package import Decision
import HTTP
import JSON
import Requests
import SourceSettings

/// What has become of a put.
package enum PutOutcome {
    /// The cluster has this revision since. It is higher than after any put before, unless the cluster was restored.
    case taken(revision: Int64)
    /// The cluster wants a token, or a newer one, and the put was not to log in.
    case loginNeeded
    case failed(Failure)
}

/// Puts one key into a cluster: at the first member that takes it. One put is in flight at most.
///
/// It begins with the member that answered a fetch last, and shares the token and the idle connections of the fetches.
final class ClusterPut {
    typealias Completion = (PutOutcome) -> Void

    /// How long one of several members may take.
    private static let longestAttempt: Duration = .seconds(5)

    private let cluster: Cluster
    private var transfer: HTTPTransfer?
    private var attempt: Attempt?

    private struct Attempt {
        let put: GatewayRequest
        /// Whether it may still ask for a token.
        var mayLogIn: Bool
        /// The members that come next, the present one first.
        var members: ArraySlice<Int>
        let deadline: Boottime
        /// The failure of the first member: a repeated failure has the same sentence.
        var failure: Failure?
        let completion: Completion
    }

    init(_ cluster: Cluster) { self.cluster = cluster }

    deinit { transfer?.cancel() }

    /// Puts a key, within the time limit of the source. `completion` is called exactly once, unless `cancel` is called.
    func put(_ value: [UInt8], at key: String, mayLogIn: Bool, completion: @escaping Completion) {
        cancel()
        let now = cluster.context.now.boot
        attempt = Attempt(
            put: .put(value, at: key), mayLogIn: mayLogIn,
            members: cluster.members(from: cluster.answering),
            deadline: now + cluster.settings.server.limits.timeout, completion: completion)
        sendPut()
    }

    /// Ends the put in flight without its completion.
    func cancel() {
        transfer?.cancel()
        attempt = nil
    }

    private func sendPut() { if let attempt { send(attempt.put) } }

    private func send(_ question: GatewayRequest) {
        guard let attempt, let member = attempt.members.first else { return }
        let token = cluster.token
        let operation = "\(question.operation) '\(cluster.settings.endpoints[member])'"
        let left = attempt.deadline - cluster.context.now.boot
        do {
            var request = try cluster.request(question, to: member)
            request.timeout = max(
                .milliseconds(1), attempt.members.count > 1 ? min(left, Self.longestAttempt) : left)
            request.maxBody = 64 << 10
            let transfer =
                if let transfer { transfer } else { try HTTPTransfer(cluster.context.client) }
            self.transfer = transfer
            try transfer.send(PreparedRequest(request)) { [unowned self] result in
                answerArrived(result, to: question, with: token, operation)
            }
        } catch {
            end(.failed(Failure(.unreachable, "\(operation): \(error)")))
        }
    }

    private func answerArrived(
        _ result: Result<HTTPResponse, TransferError>, to question: GatewayRequest,
        with token: String?, _ operation: String
    ) {
        let response: HTTPResponse
        switch result {
        case .success(let answer): response = answer
        case .failure(let error):
            return tryNext(after: Failure(.unreachable, "\(operation): \(error)"))
        }
        do throws(GatewayError) {
            let object = try response.gatewayObject(now: cluster.context.now.wall)
            if question.isLogin {
                try cluster.storeToken(from: object)
                return sendPut()
            }
            let header = object["header"]?.object
            guard let revision = header?["revision"]?.string.flatMap({ Int64($0) }) else {
                throw .invalid("the answer has no revision as etcd writes it")
            }
            end(.taken(revision: revision))
        } catch {
            recover(from: error, of: question, with: token, operation)
        }
    }

    /// Repeats the put with a newer token, or after a login; else the member has failed.
    private func recover(
        from error: GatewayError, of question: GatewayRequest, with token: String?,
        _ operation: String
    ) {
        let failure = error.failure(of: operation)
        switch error {
        case .loginNeeded where !question.isLogin && cluster.settings.login != nil:
            // A fetch may have logged in meanwhile.
            if cluster.token != nil, cluster.token != token { return sendPut() }
            guard let attempt, attempt.mayLogIn else { return end(.loginNeeded) }
            self.attempt?.mayLogIn = false
            do {
                if let login = try cluster.logIn() { send(login) }
            } catch {
                end(.failed(Failure(.unreachable, "\(operation): \(error)")))
            }
        case .loginNotWanted where question.isLogin: sendPut()
        case .loginNeeded, .loginNotWanted, .refused: end(.failed(failure))
        case .unavailable, .invalid: tryNext(after: failure)
        }
    }

    private func tryNext(after failure: Failure) {
        guard var attempt else { return }
        attempt.failure = attempt.failure ?? failure
        attempt.members = attempt.members.dropFirst()
        self.attempt = attempt
        guard !attempt.members.isEmpty, cluster.context.now.boot < attempt.deadline else {
            return end(.failed(attempt.failure ?? failure))
        }
        sendPut()
    }

    private func end(_ outcome: PutOutcome) {
        let completion = attempt?.completion
        attempt = nil
        completion?(outcome)
    }
}
