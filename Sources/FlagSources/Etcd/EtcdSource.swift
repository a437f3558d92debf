package import Decision
import Files
import HTTP
package import JSON
import POSIX
package import SourceSettings

/// Flags in etcd: all keys with a prefix, read whole at each fetch, and a watch that hints at changes of the
/// keys that services of this host read, from the revision of the last fetch on.
///
/// A fetch begins with the member that answered or told something last, and goes on to others if it does
/// not answer.
package final class EtcdSource: FlagSource {
    private let access: ClusterAccess
    private let fetch: ClusterFetch
    private var watch: ClusterWatch?
    private var members: MemberRanking
    /// The keys, less the prefix, that services of this host read.
    private var keys: Set<ExactString> = []
    /// Whether the next fetch is for a hint.
    private var isHinted = false
    /// The present warnings.
    private var warnings: [String] = []
    /// Nil without signers. With signers the prefix is the key of the one document.
    private let documents: SignedDocuments?

    /// A source that fetches nothing yet. The first member is chosen at random, so that hosts spread.
    package init(_ settings: EtcdSettings, _ context: SourceDependencies) {
        Invariant.hold(!settings.endpoints.isEmpty, "an etcd cluster has an endpoint")
        documents = context.signedDocuments()
        access = ClusterAccess(settings, context)
        fetch = ClusterFetch(access)
        members = MemberRanking(
            of: settings.endpoints.count, preferred: Int.random(in: settings.endpoints.indices))
    }

    private var settings: EtcdSettings { access.settings }
    private var context: SourceDependencies { access.context }

    package var name: SourceName { context.name }

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

    /// Drops the warnings of another object for the same source. The watch begins at the revision of the
    /// first fetch.
    package func start() {
        context.deliver(.warningsChanged(name, []))
        documents?.start()
    }

    package func setAnswersInForce(_ answers: [Answer]) { documents?.setAnswersInForce(answers) }

    package var disproofs: [[UInt8]: String] { documents?.disproofs ?? [:] }

    package func forget() { documents?.forget() }

    package func readSigners() { documents?.refresh() }

    package func fetch(unlessMatching validators: Validators) {
        let order = members.ranked(at: context.now.boot, isUrgent: isHinted)
        isHinted = false
        documents?.refresh()
        fetch.start(in: order) { [unowned self] in responseArrived($0) }
    }

    package func answerDecided() { fetch.answerDecided() }

    package func stop() {
        fetch.stop()
        watch = nil
        documents?.stop()
    }

    // MARK: - Fetches

    private func responseArrived(_ result: Result<ClusterFetch.Found, Failure>) {
        switch result {
        case .success(let found):
            members.memberAnswered(found.member)
            membersHung(found.hung)
            updateWatch(from: found)
            // No Date: the members of a cluster have a clock each, and none of them announced an end.
            do throws(Failure) {
                context.deliverOutcome(.answer(try answer(in: found.snapshot)))
            } catch {
                context.deliverOutcome(.failure(error))
            }
        case .failure(let failure):
            watch?.pollFailed(failure)
            context.deliverOutcome(.failure(documents?.failure(of: failure) ?? failure))
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

    /// Notes members that do not answer, and tells which do not, as far as it is known.
    private func membersHung(_ hung: Set<Int>) {
        members.membersHung(hung, at: context.now.boot)
        let warnings = members.hanging.map {
            "'\(settings.endpoints[$0])' does not answer; it is tried last"
        }
        guard warnings != self.warnings else { return }
        self.warnings = warnings
        context.deliver(.warningsChanged(name, warnings))
    }

    private func hint() {
        isHinted = true
        context.deliver(.hinted(name))
    }

    // MARK: - The watch

    private func updateWatch(from found: ClusterFetch.Found) {
        let watch = watch ?? makeWatch()
        self.watch = watch
        do {
            try watch.pollSucceeded(found.snapshot, failed: found.failed.union(found.hung))
        } catch {
            context.deliverWatchProblem("\(error)")
        }
    }

    private func makeWatch() -> ClusterWatch {
        ClusterWatch(
            access, isRead: { [unowned self] in isRead($0) },
            choose: { [unowned self] in members.memberToWatch(beside: $0, after: $1) },
            report: { [unowned self] in handle($0) })
    }

    /// Whether a service of this host reads the key. A key that is not UTF-8 names no flag.
    private func isRead(_ key: [UInt8]) -> Bool {
        if documents != nil { return key.elementsEqual(settings.prefix.utf8) }
        let flag = String(validating: key.dropFirst(settings.prefix.utf8.count), as: UTF8.self)
        return flag.map { keys.contains(ExactString($0)) } ?? false
    }

    private func handle(_ report: ClusterWatch.WatchEvent) {
        switch report {
        case .hint(let member):
            members.memberAnswered(member)
            membersHung([])
            hint()
        case .hangs(let member): membersHung([member])
        case .problem(let problem): context.deliverWatchProblem(problem)
        }
    }
}
