import CivilTime
import Decision
import EventLoop
import POSIX
import SourceSettings

/// One fetch of the keys from a cluster: the members are tried in an order, and the first answer counts.
///
/// The next member is tried when one fails, and also when one has not answered for `hedgeDelay`: it may
/// hang. That request stays in flight, so that a cluster whose members are all slow answers too.
final class ClusterFetch {
    /// Receives the keys and the members that failed or hung before; or the failure of the member that was tried
    /// first.
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

    /// The failure of the member that was tried first: a fetch that fails again in the same way has the
    /// same sentence.
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
