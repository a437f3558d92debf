import CivilTime
import Decision
import HTTP
import Requests
import SourceSettings

/// One fetch of the keys from a cluster: its members are asked one after the other, and the first answer counts.
///
/// An answer that is older than one before, or of another cluster, counts only if no member gives a newer one: then the
/// cluster was restored. So a member that is behind takes nothing back.
final class ClusterFetch {
    /// The keys, and who gave them.
    struct Answer {
        let snapshot: Snapshot
        let member: Int
        /// The members that were asked before, and did not give the keys.
        let missed: Set<Int>
        /// Whether the revisions are of another history than before.
        let isRestored: Bool
    }

    /// Receives the keys, or the failure of the member that was asked first.
    typealias Completion = (Result<Answer, Failure>) -> Void

    /// How long a member may take while others can be asked. A member that hangs keeps its connections open.
    private static let longestAttempt: Duration = .seconds(3)

    private let cluster: Cluster
    private let fetch: Fetch
    private var deadline: Boottime
    private var completion: Completion?
    /// The members that were not asked yet, after the one that is being asked.
    private var members: ArraySlice<Int> = []
    private var missed: Set<Int> = []
    private var failure: Failure?
    /// Answers of another history, of which the first counts if there is no other answer.
    private var older: [(snapshot: Snapshot, member: Int)] = []
    private var hasLoggedIn = false
    /// The cluster and the revision of the last answer that counted.
    private(set) var known: (cluster: String, revision: Int64)?

    /// A fetch that sends nothing yet.
    init(_ cluster: Cluster) {
        self.cluster = cluster
        deadline = cluster.context.now.boot
        // The time that is left differs from one member to the next.
        fetch = Fetch(
            "", limit: cluster.settings.server.limits.timeout,
            timeout: "no complete answer in time", for: cluster.context)
    }

    /// Begins a fetch at a member, and ends the one before. `completion` is called exactly once, within the time limit
    /// of the source, unless `stop` or `start` is called before.
    func start(at member: Int, completion: @escaping Completion) {
        deadline = now + cluster.settings.server.limits.timeout
        members = cluster.members(from: member)
        (missed, failure, older) = ([], nil, [])
        self.completion = completion
        askMember()
    }

    /// Ends the fetch and closes the connection.
    func stop() {
        fetch.stop()
        completion = nil
    }

    private var now: Boottime { cluster.context.now.boot }

    /// Asks the next member. Each gets its share of the time, and the last one all that is left.
    private func askMember() {
        let share = (deadline - now) / max(members.count, 1)
        fetch.start(until: members.count > 1 ? now + min(share, Self.longestAttempt) : deadline)
        hasLoggedIn = false
        readKeys()
    }

    private func readKeys() { send(.range(cluster.keys)) }

    private func send(_ question: GatewayRequest) {
        guard let member = members.first else { return }
        fetch.operation = "\(question.operation) '\(cluster.settings.endpoints[member])'"
        do {
            let request = try cluster.request(question, to: member)
            fetch.send(request) { [unowned self] in
                responseArrived($0, from: member, to: question)
            }
        } catch {
            finish(.failure(Failure(.unreachable, "\(error)")))
        }
    }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, from member: Int, to question: GatewayRequest
    ) {
        let response: HTTPResponse
        switch result {
        case .success(let answer): response = answer
        case .failure(let failure):
            if members.count > 1, fetch.timeLeft < .milliseconds(50) {
                cluster.record(problem: "does not answer", of: member)
            }
            return askOther(than: member, failure)
        }
        do throws(GatewayError) {
            let object = try response.gatewayObject(now: cluster.context.now.wall)
            guard question.isLogin else {
                return arrived(try Snapshot(object, prefix: cluster.settings.prefix), from: member)
            }
            try cluster.storeToken(from: object)
            readKeys()
        } catch {
            recover(from: error, of: question, at: member)
        }
    }

    /// Repeats the request after a login or without a token; else the member has failed.
    private func recover(from error: GatewayError, of question: GatewayRequest, at member: Int) {
        let failure = error.failure(of: fetch.operation)
        switch error {
        case .loginNeeded where !hasLoggedIn:
            hasLoggedIn = true
            do {
                if let login = try cluster.logIn() { return send(login) }
                finish(.failure(failure))
            } catch {
                finish(.failure(Failure(.unreachable, "\(error)")))
            }
        case .loginNotWanted where question.isLogin: readKeys()
        case .loginNeeded, .loginNotWanted, .refused: finish(.failure(failure))
        case .unavailable, .invalid: askOther(than: member, failure)
        }
    }

    private func arrived(_ snapshot: Snapshot, from member: Int) {
        if let known, snapshot.cluster != known.cluster || snapshot.revision < known.revision {
            older.append((snapshot, member))
            let failure = Failure(.unreachable, "\(fetch.operation): its keys are older ones")
            return askOther(than: member, failure)
        }
        for (_, other) in older {
            cluster.record(
                problem: "is behind the other endpoints, or of another cluster", of: other)
        }
        accept(snapshot, of: member, isRestored: false)
    }

    private func askOther(than member: Int, _ last: Failure) {
        missed.insert(member)
        members = members.dropFirst()
        failure = failure ?? last
        if !members.isEmpty, now < deadline { return askMember() }
        if let (snapshot, member) = older.first {
            return accept(snapshot, of: member, isRestored: true)
        }
        // A repeated failure has the same sentence: a fetch begins with another member after a success alone.
        var failure = failure ?? last
        if missed.count > 1 { failure.detail += "; no other endpoint answers either" }
        finish(.failure(failure))
    }

    private func accept(_ snapshot: Snapshot, of member: Int, isRestored: Bool) {
        cluster.record(problem: nil, of: member)
        known = (snapshot.cluster, snapshot.revision)
        finish(
            .success(
                Answer(
                    snapshot: snapshot, member: member, missed: missed.subtracting([member]),
                    isRestored: isRestored)))
    }

    private func finish(_ result: Result<Answer, Failure>) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}
