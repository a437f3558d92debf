import Decision
import Files
import HTTP
import POSIX
import Requests
import SourceSettings

/// Watches the keys of a cluster at one member, and hints at changes.
///
/// An idle watch is silent, and so is one whose member hangs: nothing can be told from it. The polls go to one member
/// after the other, and the watch moves where one of them shows that it tells too little.
final class ClusterWatch {
    private let cluster: Cluster
    private let isRead: ([UInt8]) -> Bool
    private let hint: () -> Void
    private var stream: Stream<WatchParser>?
    /// The member of the present connection, and of the next one.
    private(set) var member: Int
    private var hasMoved = true
    /// The revision of the last fetch: a connection watches from the next one on.
    private var revision: Int64

    /// A watch from the revision of an answer on, at the member that gave it. `isRead` says whether a service of this
    /// host reads a key; `hint` is called when the flags may have changed.
    init(
        _ cluster: Cluster, from answer: ClusterFetch.Answer, isRead: @escaping ([UInt8]) -> Bool,
        hint: @escaping () -> Void
    ) throws(SystemError) {
        self.cluster = cluster
        self.isRead = isRead
        self.hint = hint
        (member, revision) = (answer.member, answer.snapshot.revision)
        // A member reports progress every ten minutes by default, and up to a tenth later. The kernel's
        // keep-alive probes find a dead connection sooner.
        let policy = StreamPolicy(
            opening: min(cluster.settings.server.limits.timeout, .seconds(5)),
            silence: .seconds(12 * 60), hints: .ofKeys)
        stream = try Stream(
            for: cluster.context, policy, parser: { WatchParser(isRead) },
            request: { [unowned self] in try request() },
            deliver: { [unowned self] event in
                if case .hinted = event { self.hint() } else { self.cluster.context.deliver(event) }
            })
        stream?.start()
    }

    /// A poll has brought the keys, and the watch has told as much.
    func pollSucceeded(_ answer: ClusterFetch.Answer) {
        revision = answer.snapshot.revision
        stream?.pollSucceeded()
    }

    func pollFailed(_ failure: Failure) { stream?.pollFailed(failure) }

    /// Watches at the member that has given this answer from now on.
    func move(to answer: ClusterFetch.Answer) {
        (member, hasMoved) = (answer.member, true)
        pollSucceeded(answer)
        stream?.start()
    }

    /// The request of the next connection: at the next member, where one connection has failed.
    private func request() throws(CredentialError) -> HTTPRequest {
        if !hasMoved, let failures = stream?.failures, failures > 0 {
            member = (member + 1) % cluster.settings.endpoints.count
        }
        hasMoved = false
        return try cluster.request(.watch(cluster.keys, from: revision + 1), to: member)
    }
}
