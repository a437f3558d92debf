import CivilTime
import Decision
import EventLoop
import HTTP
import POSIX
import Requests
import SourceSettings

/// One fetch of the keys from a cluster: the members are tried in an order, and the first answer counts.
///
/// The next member is tried when one fails, and also when one has not answered for `hedgeDelay`: it may
/// hang. That request stays in flight, so that a cluster whose members are all slow answers too.
final class ClusterFetch {
    /// Receives the keys and the members that failed or hung before; or the failure of the member tried first.
    typealias Completion = (Result<Snapshot, Failure>, _ missed: Set<Int>) -> Void

    private let cluster: Cluster
    private var fetches: [MemberFetch] = []
    private var timer: Timer?
    private var deadline: Boottime
    private var completion: Completion?
    private var first = 0
    /// The members that were not tried yet, in their order.
    private var waiting: [Int] = []
    /// The members whose answers are awaited, and since when.
    private var tried: [Int: Boottime] = [:]
    private var failures: [Int: Failure] = [:]

    /// A fetch that sends nothing yet.
    init(_ cluster: Cluster) {
        self.cluster = cluster
        deadline = cluster.context.now.boot
        fetches = cluster.settings.endpoints.indices.map { member in
            MemberFetch(at: member, cluster) { [unowned self] in memberAnswered($0, $1, member) }
        }
    }

    /// Begins a fetch, and ends the one before. `completion` is called exactly once, within the time limit
    /// of the source, unless `stop` or `start` is called before.
    func start(in order: [Int], completion: @escaping Completion) {
        cancel()
        do {
            timer =
                try timer
                ?? Timer(cluster.context.loop, accuracy: .milliseconds(20)) { [unowned self] in
                    tryNext()
                }
        } catch {
            return completion(.failure(Failure(.unreachable, "\(error)")), [])
        }
        deadline = now + cluster.settings.server.limits.timeout
        self.completion = completion
        first = order.first ?? 0
        waiting = order
        tryNext()
    }

    /// Services have decided by what was found.
    func answerDecided() { for member in fetches { member.fetch.answerDecided() } }

    /// Ends the fetch and closes the connections.
    func stop() {
        cancel()
        for member in fetches { member.fetch.stop() }
    }

    private var now: Boottime { cluster.context.now.boot }

    private func cancel() {
        for member in tried.keys { fetches[member].fetch.cancel() }
        timer?.set(at: nil)
        (waiting, tried, failures, completion) = ([], [:], [:], nil)
    }

    private func tryNext() {
        guard !waiting.isEmpty else { return }
        let member = waiting.removeFirst()
        tried[member] = now
        timer?.set(at: waiting.isEmpty ? nil : now + MemberRanking.hedgeDelay)
        fetches[member].start(until: deadline)
    }

    private func memberAnswered(
        _ result: Result<Snapshot, Failure>, _ mayOthersAnswer: Bool, _ member: Int
    ) {
        tried[member] = nil
        switch result {
        case .success(let snapshot):
            let now = now
            let hung = tried.filter { $0.value + MemberRanking.hedgeDelay <= now }
            cluster.memberAnswered(member, hung: Set(hung.keys))
            finish(.success(snapshot), missed: Set(failures.keys).union(hung.keys))
        case .failure(let last):
            failures[member] = last
            if !mayOthersAnswer {
                finish(.failure(last))
            } else if waiting.isEmpty || deadline <= now {
                if tried.isEmpty { finish(.failure(failure(else: last))) }
            } else {
                tryNext()
            }
        }
    }

    /// The failure of the member that was tried first: a repeated failure has the same sentence.
    private func failure(else last: Failure) -> Failure {
        var failure = failures[first] ?? last
        if fetches.count > 1 { failure.detail += "; no other endpoint answers either" }
        return failure
    }

    private func finish(_ result: Result<Snapshot, Failure>, missed: Set<Int> = []) {
        let completion = completion
        cancel()
        completion?(result, missed)
    }
}

/// Reads the keys at one member, after a login where the cluster wants one, over a kept connection.
final class MemberFetch {
    /// Receives the keys, or why they did not come, and whether another member may give them.
    typealias Completion = (Result<Snapshot, Failure>, _ mayOthersAnswer: Bool) -> Void

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

    private func readKeys() { send(.range(cluster.keys)) }

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
