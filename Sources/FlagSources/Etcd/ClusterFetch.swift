import CivilTime
import Decision
import EventLoop
import HTTP
import POSIX
import SourceSettings

/// One fetch of the keys from a cluster: the members are tried in an order, and the first answer counts.
///
/// The next member is tried when one fails, and also when one has not answered for `hedgeDelay`: it may
/// hang. That request stays in flight, so that a cluster whose members are all slow answers too.
final class ClusterFetch {
    /// Receives the keys, or the failure of the member that was tried first.
    typealias Completion = (Result<Found, Failure>) -> Void

    /// The keys, and what was learned about the members.
    struct Found {
        let snapshot: Snapshot
        let response: HTTPResponse
        /// The member that gave them.
        let member: Int
        /// The members that did not answer for `hedgeDelay`.
        let hung: Set<Int>
        /// The members that failed.
        let failed: Set<Int>
    }

    private let access: ClusterAccess
    private let fetches: [MemberFetch]
    private var timer: Timer?
    private var deadline: Boottime
    private var completion: Completion?
    /// The first of the order.
    private var first = 0
    /// The members that were not tried yet, in their order.
    private var waiting: [Int] = []
    /// The members whose answers are awaited, and since when.
    private var tried: [Int: Boottime] = [:]
    private var failures: [Int: Failure] = [:]

    /// A fetch that sends nothing yet.
    init(_ access: ClusterAccess) {
        self.access = access
        fetches = access.settings.endpoints.indices.map { MemberFetch(at: $0, access) }
        deadline = access.context.now.boot
    }

    /// Begins a fetch, and ends the one before. `completion` is called exactly once, within the time limit
    /// of the source, unless `stop` or `start` is called before.
    func start(in order: [Int], completion: @escaping Completion) {
        cancel()
        do {
            try timer = timer ?? makeTimer()
        } catch {
            return completion(.failure(Failure(.unreachable, "\(error)")))
        }
        deadline = now + access.settings.limits.timeout
        self.completion = completion
        first = order.first ?? 0
        waiting = order
        tryNext()
    }

    /// Services have decided by what was found.
    func answerDecided() { for fetch in fetches { fetch.answerDecided() } }

    /// Ends the fetch and closes the connections.
    func stop() {
        cancel()
        for fetch in fetches { fetch.stop() }
    }

    private var now: Boottime { access.context.now.boot }

    private func makeTimer() throws(SystemError) -> Timer {
        try Timer(access.context.loop, accuracy: .milliseconds(20)) { [unowned self] in tryNext() }
    }

    private func cancel() {
        for member in tried.keys { fetches[member].cancel() }
        timer?.set(at: nil)
        (waiting, tried, failures, completion) = ([], [:], [:], nil)
    }

    private func tryNext() {
        guard !waiting.isEmpty else { return }
        let member = waiting.removeFirst()
        tried[member] = now
        timer?.set(at: waiting.isEmpty ? nil : now + MemberRanking.hedgeDelay)
        fetches[member].start(until: deadline) { [unowned self] in memberAnswered($0, from: member)
        }
    }

    private func memberAnswered(
        _ result: Result<(Snapshot, HTTPResponse), MemberFetch.Failed>, from member: Int
    ) {
        tried[member] = nil
        switch result {
        case .success(let (snapshot, response)):
            let now = now
            let hung = tried.filter { $0.value + MemberRanking.hedgeDelay <= now }
            finish(
                .success(
                    Found(
                        snapshot: snapshot, response: response, member: member,
                        hung: Set(hung.keys), failed: Set(failures.keys))))
        case .failure(let failed):
            failures[member] = failed.failure
            if !failed.mayOthersAnswer {
                finish(.failure(failed.failure))
            } else if waiting.isEmpty || deadline <= now {
                if tried.isEmpty { finish(.failure(failure(else: failed.failure))) }
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

    private func finish(_ result: Result<Found, Failure>) {
        let completion = completion
        cancel()
        completion?(result)
    }
}
