import CivilTime
import Decision
import EventLoop
import Files
import HTTP
import POSIX
import SourceSettings

/// Watches the keys of a cluster at two members, where it has two. A member that hangs keeps its watch open
/// and silent, and only another watch can tell.
///
/// The hints of the first watch are passed on. If the second tells of a change that the first does not tell
/// within `MemberRanking.hedgeDelay`, the member of the first hangs: both change places, and the hint is passed
/// on then. A watch whose member hangs is opened at another member.
final class ClusterWatch {
    /// What the owner has to know.
    enum WatchEvent {
        /// The flags may have changed; this member has told it.
        case hint(member: Int)
        /// This member does not answer although another does.
        case hangs(Int)
        /// Why no watch is open; nil if one is.
        case problem(String?)
    }

    private let access: ClusterAccess
    private let isRead: ([UInt8]) -> Bool
    private let choose: (_ beside: Int?, _ failures: Int) -> Int
    private let report: (WatchEvent) -> Void
    /// The first watch, and the second.
    private var watches: [MemberWatch] = []
    private var timer: Timer?
    /// The cluster and the revision of the last fetch: a connection watches from the next revision on.
    private var known: (cluster: String, revision: Int64)?
    /// The revision that both watches have to tell until the timer fires; nil while it is off.
    private var compared: Int64?

    /// A watch that is not open yet. `isRead` says whether a service of this host reads a key, `choose`
    /// which member the next connection goes to, beside that of the other watch and after so many failures.
    init(
        _ access: ClusterAccess, isRead: @escaping ([UInt8]) -> Bool,
        choose: @escaping (_ beside: Int?, _ failures: Int) -> Int,
        report: @escaping (WatchEvent) -> Void
    ) {
        self.access = access
        self.isRead = isRead
        self.choose = choose
        self.report = report
    }

    /// A poll has brought the keys, in which some members failed. A watch is opened, or opened again
    /// if it would miss changes: if it waits for revisions of another history, or its member failed.
    func pollSucceeded(_ snapshot: Snapshot, failed: Set<Int>) throws(SystemError) {
        let isOtherHistory = known.map {
            snapshot.cluster != $0.cluster || snapshot.revision < $0.revision
        }
        known = (snapshot.cluster, snapshot.revision)
        guard let isOtherHistory, !watches.isEmpty else { return try open() }
        for watch in watches {
            let hasFailed = watch.progress.member.map(failed.contains) ?? false
            if isOtherHistory || hasFailed { watch.stream.start() }
            watch.stream.pollSucceeded()
        }
    }

    /// A poll has failed.
    func pollFailed(_ failure: Failure) {
        for watch in watches { watch.stream.pollFailed(failure) }
    }

    private func open() throws(SystemError) {
        timer = try Timer(access.context.loop, accuracy: .milliseconds(20)) { [unowned self] in
            compare()
        }
        watches = try (0..<min(2, access.settings.endpoints.count)).map { _ throws(SystemError) in
            try makeWatch()
        }
        for watch in watches { watch.stream.start() }
    }

    private func makeWatch() throws(SystemError) -> MemberWatch {
        let progress = WatchProgress()
        // A member reports progress every ten minutes by default, and up to a tenth later. The kernel's
        // keep-alive probes find a dead connection sooner.
        let policy = StreamPolicy(
            opening: min(access.settings.limits.timeout, .seconds(5)), silence: .seconds(12 * 60),
            hints: .ofKeys)
        let stream = try Stream(
            for: access.context, policy,
            parser: { [unowned self] in
                WatchParser { [unowned self] key, revision in
                    guard isRead(key) else { return false }
                    progress.revisionSeen(revision)
                    return true
                }
            },
            request: { [unowned self] in try request(progress) },
            deliver: { [unowned self] in streamEvent($0, of: progress) })
        return MemberWatch(stream: stream, progress: progress)
    }

    private func request(_ progress: WatchProgress) throws(CredentialError) -> HTTPRequest {
        let revision = known?.revision ?? 0
        let other = watches.first { $0.progress !== progress }?.progress.member
        let own = watches.first { $0.progress === progress }
        let member = choose(other, own?.stream.failures ?? 0)
        progress.connecting(to: member, from: revision)
        return try access.request(
            .watch(prefix: access.settings.prefix, from: revision + 1), to: member)
    }

    private func streamEvent(_ event: Event, of progress: WatchProgress) {
        if case .hinted = event {
            if progress === watches.first?.progress { deliverHint() }
            compareLater()
        }
        if case .watchChanged(_, let problem) = event {
            progress.setProblem(problem)
            let isOpen = watches.contains { $0.progress.problem == nil }
            report(.problem(isOpen ? nil : problem))
        }
    }

    private func deliverHint() {
        if let member = watches.first?.progress.member { report(.hint(member: member)) }
    }

    /// Gives the other watch some time to tell a change that only one has told yet.
    private func compareLater() {
        let revisions = watches.map(\.progress.newestRevision)
        guard compared == nil, let newest = revisions.max(),
            revisions.contains(where: { $0 < newest })
        else {
            return
        }
        compared = newest
        timer?.set(at: access.context.now.boot + MemberRanking.hedgeDelay)
    }

    /// Finds the watch that has not told the change in time.
    private func compare() {
        guard let newest = compared else { return }
        compared = nil
        if let late = watches.first(where: { $0.progress.newestRevision < newest }) {
            let isFirst = late.progress === watches.first?.progress
            if isFirst { watches.reverse() }
            if late.stream.isOpen, let member = late.progress.member {
                report(.hangs(member))
                late.stream.start()
            }
            if isFirst { deliverHint() }
        }
        compareLater()
    }
}

/// A watch at one member.
private struct MemberWatch {
    let stream: Stream<WatchParser>
    let progress: WatchProgress
}

/// How far a watch has come. Its parser and its requests note it.
private final class WatchProgress {
    /// The member of the present connection.
    private(set) var member: Int?
    /// The highest revision of a key of this host that it has told, or that was known when it connected.
    private(set) var newestRevision: Int64 = 0
    /// Why it is not open.
    private(set) var problem: String?

    func connecting(to member: Int, from revision: Int64) {
        self.member = member
        newestRevision = revision
    }

    func revisionSeen(_ revision: Int64) { newestRevision = max(newestRevision, revision) }

    func setProblem(_ problem: String?) { self.problem = problem }
}
