import CivilTime
import Decision
import HTTP
import SourceSettings

/// Reads the keys at one member, after a login where the cluster wants one. It keeps its connection from
/// fetch to fetch.
final class MemberFetch {
    /// Receives the keys, or why they did not come, and whether another member may give them: not after a wrong password.
    typealias Completion = (Result<Snapshot, Failure>, _ mayOthersAnswer: Bool) -> Void

    /// The requests of the present fetch.
    let fetch: Fetch
    private let member: Int
    private let cluster: Cluster
    private var hasLoggedIn = false
    private let completion: Completion

    /// Reads at a member. `completion` is called exactly once for each start, by the deadline, unless `fetch` is
    /// cancelled or it is started again before.
    init(at member: Int, _ cluster: Cluster, completion: @escaping Completion) {
        self.member = member
        self.cluster = cluster
        self.completion = completion
        // The time that is left differs from one member to the next.
        fetch = Fetch(
            "", limit: cluster.settings.server.limits.timeout,
            timeout: "no complete answer in time",
            isDecidedOn: true, for: cluster.context)
    }

    /// Reads the keys.
    func start(until deadline: Boottime) {
        fetch.start(until: deadline)
        hasLoggedIn = false
        readKeys()
    }

    private func readKeys() { send(.range(prefix: cluster.settings.prefix)) }

    private func send(_ question: GatewayRequest) {
        fetch.operation = "\(question.operation) '\(cluster.settings.endpoints[member])'"
        do {
            let request = try cluster.request(question, to: member)
            fetch.send(request) { [unowned self] in responseArrived($0, to: question) }
        } catch {
            completion(.failure(Failure(.unreachable, "\(error)")), false)
        }
    }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, to question: GatewayRequest
    ) {
        let response: HTTPResponse
        switch result {
        case .success(let answer): response = answer
        case .failure(let failure): return completion(.failure(failure), true)
        }
        do throws(GatewayError) {
            let object = try response.gatewayObject(now: cluster.context.now.wall)
            guard question.isLogin else {
                return completion(
                    .success(try Snapshot(object, prefix: cluster.settings.prefix)), true)
            }
            try cluster.storeToken(from: object)
            readKeys()
        } catch {
            recover(from: error, of: question)
        }
    }

    /// Repeats the request after a login or without a token; else the member has failed.
    private func recover(from error: GatewayError, of question: GatewayRequest) {
        let failure = error.failure(of: fetch.operation)
        switch error {
        case .loginNeeded where !hasLoggedIn:
            hasLoggedIn = true
            do {
                if let login = try cluster.logIn() { return send(login) }
                completion(.failure(failure), false)
            } catch {
                completion(.failure(Failure(.unreachable, "\(error)")), false)
            }
        case .loginNotWanted where question.isLogin: readKeys()
        case .loginNeeded, .loginNotWanted, .refused: completion(.failure(failure), false)
        case .unavailable, .invalid: completion(.failure(failure), true)
        }
    }
}
