package import Decision
import Faults
import Files
package import JSON
package import SourceKinds
import Transfer

/// Flags in etcd: all keys with a prefix, read whole at each fetch, and a watch that hints at changes of the
/// keys that services of this host read, from the revision of the last fetch on.
///
/// A fetch begins with the member that answered or told something last, and goes on to others if it does
/// not answer.
package final class EtcdSource: FlagSource {
    private let access: ClusterAccess
    private let fetch: ClusterFetch
    private var watch: ClusterWatch?
    private var members: MemberOrder
    /// The keys, less the prefix, that services of this host read.
    private var keys: Set<ExactString> = []
    /// Whether the next fetch is for a hint.
    private var isHinted = false
    /// The present warnings.
    private var warnings: [String] = []
    /// Nil without signers. With signers the prefix is the key of the one document.
    private let documents: SignedDocuments?

    /// A source that fetches nothing yet. The first member is chosen at random, so that hosts spread.
    package init(_ site: EtcdSite, _ context: SourceContext) {
        Invariant.hold(!site.endpoints.isEmpty, "an etcd cluster has an endpoint")
        documents = context.signedDocuments()
        access = ClusterAccess(site, context)
        fetch = ClusterFetch(access)
        members = MemberOrder(
            of: site.endpoints.count, preferred: Int.random(in: site.endpoints.indices))
    }

    private var site: EtcdSite { access.site }
    private var context: SourceContext { access.context }

    package var name: SourceName { context.name }

    /// The prefix, the user and the endpoints. There is no secret in it.
    package var binding: String {
        let user = site.login.map { " as \($0.user)" } ?? ""
        return "etcd:\(site.prefix)\(user) at \(site.endpoints.sorted().joined(separator: ","))"
    }

    /// Fetches if there are new keys: their changes were not followed.
    package func follow(_ keys: Set<ExactString>) {
        let isMore = !keys.isSubset(of: self.keys)
        self.keys = keys
        if isMore, watch != nil { hint() }
    }

    /// Drops the warnings of another object for the same source. The watch begins at the revision of the
    /// first fetch.
    package func start() {
        context.deliver(.warned(name, []))
        documents?.start()
    }

    package func recall(_ answers: [Answer]) { documents?.recall(answers) }

    package var disproofs: [[UInt8]: String] { documents?.disproofs ?? [:] }

    package func forget() { documents?.forget() }

    package func readSigners() { documents?.refresh() }

    package func fetch(unlessMatching validators: Validators) {
        let order = members.order(at: context.now.boot, isUrgent: isHinted)
        isHinted = false
        documents?.refresh()
        fetch.begin(in: order) { [unowned self] in end($0) }
    }

    package func answerDecided() { fetch.answerDecided() }

    package func stop() {
        fetch.stop()
        watch = nil
        documents?.stop()
    }

    // MARK: - Fetches

    private func end(_ result: Result<ClusterFetch.Found, Failure>) {
        switch result {
        case .success(let found):
            members.note(answering: found.member)
            note(hanging: found.hung)
            follow(found)
            // No Date: the members of a cluster have a clock each, and none of them announced an end.
            do throws(Failure) {
                context.end(.answer(try answer(in: found.snapshot)))
            } catch {
                context.end(.failure(error))
            }
        case .failure(let failure):
            watch?.pollFailed(failure)
            context.end(.failure(documents?.failure(of: failure) ?? failure))
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
            throw Failure(.invalid, "the cluster has no key '\(site.prefix)'")
        }
        guard let text = value.string else {
            throw Failure(.invalid, "the document at the key '\(site.prefix)' is not UTF-8")
        }
        return try documents.answer(in: Array(text.utf8))
    }

    /// Notes members that do not answer, and tells which do not, as far as it is known.
    private func note(hanging hung: Set<Int>) {
        members.note(hanging: hung, at: context.now.boot)
        let warnings = members.hanging.map {
            "'\(site.endpoints[$0])' does not answer; it is tried last"
        }
        guard warnings != self.warnings else { return }
        self.warnings = warnings
        context.deliver(.warned(name, warnings))
    }

    private func hint() {
        isHinted = true
        context.deliver(.hinted(name))
    }

    // MARK: - The watch

    private func follow(_ found: ClusterFetch.Found) {
        let watch = watch ?? makeWatch()
        self.watch = watch
        do {
            try watch.follow(found.snapshot, failed: found.failed.union(found.hung))
        } catch {
            context.tell(problem: "\(error)")
        }
    }

    private func makeWatch() -> ClusterWatch {
        ClusterWatch(
            access, isRead: { [unowned self] in isRead($0) },
            choose: { [unowned self] in members.watched(beside: $0, after: $1) },
            report: { [unowned self] in take($0) })
    }

    /// Whether a service of this host reads the key. A key that is not UTF-8 names no flag.
    private func isRead(_ key: [UInt8]) -> Bool {
        if documents != nil { return key.elementsEqual(site.prefix.utf8) }
        let flag = String(validating: key.dropFirst(site.prefix.utf8.count), as: UTF8.self)
        return flag.map { keys.contains(ExactString($0)) } ?? false
    }

    private func take(_ report: ClusterWatch.Report) {
        switch report {
        case .hint(let member):
            members.note(answering: member)
            note(hanging: [])
            hint()
        case .hangs(let member): note(hanging: [member])
        case .problem(let problem): context.tell(problem: problem)
        }
    }
}
