import CivilTime
import Decision
import EventLoop
import Files
import HTTP
import POSIX
import Requests
import SourceSettings

/// Watches the keys of a cluster at two members, where it has two. A member that hangs keeps its watch open
/// and silent, and only another watch can tell.
///
/// The hints of the first watch are passed on. If the second tells of a change that the first does not tell
/// within `MemberRanking.hedgeDelay`, the member of the first hangs: both change places, and the hint is passed
/// on then. A watch whose member hangs is opened at another member.
final class ClusterWatch {
    private let cluster: Cluster
    private let isRead: ([UInt8]) -> Bool
    private let hint: () -> Void
    /// The first watch, and the second.
    private var watches: [MemberWatch] = []
    private var timer: Timer?
    /// The cluster and the revision of the last fetch: a connection watches from the next revision on.
    private var known: (cluster: String, revision: Int64)?
    /// The revision that both watches have to tell until the timer fires; nil while it is off.
    private var compared: Int64?

    /// A watch that is not open yet. `isRead` says whether a service of this host reads a key; `hint` is called
    /// when the flags may have changed.
    init(_ cluster: Cluster, isRead: @escaping ([UInt8]) -> Bool, hint: @escaping () -> Void) {
        self.cluster = cluster
        self.isRead = isRead
        self.hint = hint
    }

    /// A poll has brought the keys, which some members did not give. A watch is opened, or opened again
    /// if it would miss changes: if it waits for revisions of another history, or its member is one of these.
    func pollSucceeded(_ snapshot: Snapshot, missed: Set<Int>) throws(SystemError) {
        let isOtherHistory = known.map {
            snapshot.cluster != $0.cluster || snapshot.revision < $0.revision
        }
        known = (snapshot.cluster, snapshot.revision)
        guard let isOtherHistory, !watches.isEmpty else { return try open() }
        for watch in watches {
            let hasFailed = watch.member.map(missed.contains) ?? false
            if isOtherHistory || hasFailed { watch.stream?.start() }
            watch.stream?.pollSucceeded()
        }
    }

    /// A poll has failed.
    func pollFailed(_ failure: Failure) {
        for watch in watches { watch.stream?.pollFailed(failure) }
    }

    private func open() throws(SystemError) {
        timer = try Timer(cluster.context.loop, accuracy: .milliseconds(20)) { [unowned self] in
            compare()
        }
        watches = try (0..<min(2, cluster.settings.endpoints.count)).map {
            _ throws(SystemError) in
            let watch = MemberWatch()
            watch.stream = try makeStream(of: watch)
            return watch
        }
        for watch in watches { watch.stream?.start() }
    }

    private func makeStream(of watch: MemberWatch) throws(SystemError) -> Stream<WatchParser> {
        // A member reports progress every ten minutes by default, and up to a tenth later. The kernel's
        // keep-alive probes find a dead connection sooner.
        let policy = StreamPolicy(
            opening: min(cluster.settings.server.limits.timeout, .seconds(5)),
            silence: .seconds(12 * 60),
            hints: .ofKeys)
        return try Stream(
            for: cluster.context, policy,
            parser: { [unowned self, unowned watch] in
                WatchParser { [unowned self, unowned watch] key, revision in
                    guard isRead(key) else { return false }
                    watch.newestRevision = max(watch.newestRevision, revision)
                    return true
                }
            },
            request: { [unowned self, unowned watch] in try request(of: watch) },
            deliver: { [unowned self, unowned watch] in streamEvent($0, of: watch) })
    }

    /// The member of the next connection is another than that of the other watch, if possible.
    private func request(of watch: MemberWatch) throws(CredentialError) -> HTTPRequest {
        let revision = known?.revision ?? 0
        let member = cluster.members.memberToWatch(
            beside: watches.first { $0 !== watch }?.member, after: watch.stream?.failures ?? 0)
        watch.member = member
        watch.newestRevision = revision
        return try cluster.request(.watch(cluster.keys, from: revision + 1), to: member)
    }

    private func streamEvent(_ event: Event, of watch: MemberWatch) {
        if case .hinted = event {
            if watch === watches.first { deliverHint() }
            compareLater()
        }
        if case .watchChanged(_, let problem) = event {
            watch.problem = problem
            let isOpen = watches.contains { $0.problem == nil }
            cluster.context.deliverWatchProblem(isOpen ? nil : problem)
        }
    }

    private func deliverHint() {
        guard let member = watches.first?.member else { return }
        cluster.memberAnswered(member)
        hint()
    }

    /// Gives the other watch some time to tell a change that only one has told yet.
    private func compareLater() {
        let revisions = watches.map(\.newestRevision)
        guard compared == nil, let newest = revisions.max(),
            revisions.contains(where: { $0 < newest })
        else { return }
        compared = newest
        timer?.set(at: cluster.context.now.boot + MemberRanking.hedgeDelay)
    }

    /// Finds the watch that has not told the change in time.
    private func compare() {
        guard let newest = compared else { return }
        compared = nil
        if let late = watches.first(where: { $0.newestRevision < newest }) {
            let isFirst = late === watches.first
            if isFirst { watches.reverse() }
            if let stream = late.stream, stream.isOpen, let member = late.member {
                cluster.membersHung([member])
                stream.start()
            }
            if isFirst { deliverHint() }
        }
        compareLater()
    }
}

/// A watch at one member, and how far it has come. Its parser and its requests record that.
private final class MemberWatch {
    var stream: Stream<WatchParser>?
    /// The member of the present connection.
    var member: Int?
    /// The highest revision of a key of this host that it has told, or that was known when it connected.
    var newestRevision: Int64 = 0
    /// Why it is not open.
    var problem: String?
}
