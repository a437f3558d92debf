package import Decision
import HTTP
package import JSON
import POSIX
package import SourceSettings

/// Flags in etcd: all keys with a prefix, read whole at each fetch, and a watch that hints at changes of the
/// keys that services of this host read, from the revision of the last fetch on.
///
/// Each poll begins with the next member, so that a member that hangs is found: the watch moves to the one that brought
/// what the watch had not told. A fetch for a hint begins with the member that told it. With signers the prefix is the
/// key of the one document.
package final class EtcdSource: FlagSource {
    private let settings: EtcdSettings
    private let context: SourceDependencies
    private let cluster: Cluster
    private let fetch: ClusterFetch
    private var watch: ClusterWatch?
    /// Nil before the first put.
    private var put: ClusterPut?
    /// The keys, less the prefix, that services of this host read.
    private var keys: Set<ExactString> = []
    /// Whether the watch, or a new key, has asked for a fetch that has not begun.
    private var isHinted = false
    /// The member with which the next poll begins.
    private var next: Int
    /// The revisions of the keys that are read, at the last fetch.
    private var revisions = JSON.Object()

    /// A source that fetches nothing yet.
    package init(_ settings: EtcdSettings, _ context: SourceDependencies) {
        Invariant.hold(!settings.endpoints.isEmpty, "an etcd cluster has an endpoint")
        self.settings = settings
        self.context = context
        cluster = Cluster(settings, context)
        fetch = ClusterFetch(cluster)
        next = cluster.answering
    }

    package var name: SourceName { context.name }

    package var documents: SignedDocuments? { context.documents }

    /// The prefix, the user and the endpoints. There is no secret in it.
    package var fingerprint: String {
        let user = settings.login.map { " as \($0.user)" } ?? ""
        return
            "etcd:\(settings.prefix)\(user) at \(settings.endpoints.sorted().joined(separator: ","))"
    }

    /// Fetches if there are new keys: their changes were not followed.
    package func setKeys(_ keys: Set<ExactString>) {
        let isMore = !keys.isSubset(of: self.keys)
        self.keys = keys
        if isMore, watch != nil { hint() }
    }

    /// Drops the warnings of an earlier object. The watch begins at the revision of the first fetch.
    package func start() {
        context.deliver(.warningsChanged(name, []))
        documents?.start()
    }

    package func fetch(unlessMatching validators: Validators) {
        let wasHinted = isHinted
        isHinted = false
        documents?.refresh()
        fetch.start(at: wasHinted ? watch?.member ?? next : next) { [unowned self] in
            fetchEnded($0, wasHinted: wasHinted)
        }
    }

    package func stop() {
        fetch.stop()
        watch = nil
        put = nil
        documents?.stop()
    }

    // MARK: What the host says of itself

    /// What a host puts under the id of its machine.
    package enum HostKey { case brief, signOfLife }

    /// Puts what this host says. One put is in flight at most; `completion` is called exactly once, unless the source
    /// is stopped or another put begins. Only with `mayLogIn` a put logs in. No outcome changes how the flags are read.
    package func put(
        _ value: [UInt8], at key: HostKey, of machineID: String, mayLogIn: Bool,
        completion: @escaping (PutOutcome) -> Void
    ) {
        let put = put ?? ClusterPut(cluster)
        self.put = put
        let prefix = key == .brief ? settings.hostsPrefix : settings.signsPrefix
        put.put(value, at: prefix + machineID, mayLogIn: mayLogIn, completion: completion)
    }

    /// Drops the put in flight.
    package func cancelPut() { put?.cancel() }

    /// The beginning of the keys that hosts put.
    package var hostsStem: String { settings.hostsStem }

    private func fetchEnded(
        _ result: Result<ClusterFetch.Answer, Failure>, wasHinted: Bool
    ) {
        do throws(Failure) {
            let found = try result.mapError { failure in
                watch?.pollFailed(failure)
                return documents?.failure(of: failure) ?? failure
            }.get()
            if !wasHinted { next = (found.member + 1) % settings.endpoints.count }
            updateWatch(by: found, wasHinted: wasHinted)
            // No Date: the members of a cluster have a clock each, and none of them announced an end.
            context.deliverOutcome(.answer(try answer(in: found.snapshot)))
        } catch {
            context.deliverOutcome(.failure(error))
        }
    }

    /// The keys as flags; with signers the flags in the one document.
    private func answer(in snapshot: Snapshot) throws(Failure) -> Answer {
        guard let documents else {
            return Answer(
                body: snapshot.body, flags: snapshot.flags, version: .ofEach(snapshot.revisions),
                fetchedAt: context.now.wall)
        }
        guard let value = snapshot.flags[""] else {
            throw Failure(.invalid, "the cluster has no key '\(settings.prefix)'")
        }
        guard let text = value.string else {
            throw Failure(.invalid, "the document at the key '\(settings.prefix)' is not UTF-8")
        }
        return try documents.answer(in: Array(text.utf8))
    }

    private func hint() {
        isHinted = true
        context.deliver(.hinted(name))
    }

    /// Moves the watch where it misses changes: its member has not answered, it waits for revisions of another history,
    /// or it has not told what a poll has found.
    private func updateWatch(by found: ClusterFetch.Answer, wasHinted: Bool) {
        let before = revisions
        revisions = JSON.Object(found.snapshot.revisions.filter { isRead($0.key) })
        do {
            guard let watch else {
                watch = try ClusterWatch(
                    cluster, from: found, isRead: { [unowned self] in isRead($0) },
                    hint: { [unowned self] in hint() })
                return
            }
            let isCurrent = wasHinted || isHinted || revisions == before
            let hasFailed = found.isRestored || found.missed.contains(watch.member)
            if isCurrent, !hasFailed { watch.pollSucceeded(found) } else { watch.move(to: found) }
        } catch {
            context.deliverWatchProblem("\(error)")
        }
    }

    /// Whether a service of this host reads the key. A key that is not UTF-8 names no flag.
    private func isRead(_ key: [UInt8]) -> Bool {
        if documents != nil { return key.elementsEqual(settings.prefix.utf8) }
        let flag = String(validating: key.dropFirst(settings.prefix.utf8.count), as: UTF8.self)
        return flag.map(isRead) ?? false
    }

    private func isRead(_ flag: String) -> Bool {
        documents != nil || keys.contains(ExactString(flag))
    }
}
