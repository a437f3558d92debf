import CivilTime
package import Decision
import EventLoop
import Files
package import FlagSignatures
package import Requests
import Signing
package import SourceSettings

/// The signed documents of one source: each is checked once, and again when the file of signers has changed.
/// Then it delivers which are unproved (`Event.disproved`); the machine ignores those that were replaced.
package final class SignedDocuments {
    private let name: SourceName
    private let file: SignerFile
    private let loop: EventLoop
    private let deliver: Deliver
    private var watch: PathWatch?
    private var stamp: FileStamp
    private var signers: Result<AllowedSigners, DocumentRefusal>
    /// Why the list cannot be used, as delivered last.
    private var deliveredProblem: String?
    /// The documents that were checked last, the newest first, and those in force.
    private var known: [Known] = []
    /// The marks of those on which the flags in force rest (`SignedAnswer.identity`).
    private var inForce: Set<[UInt8]> = []
    /// Why some of them are unproved, as delivered last, keyed by `SignedAnswer.identity`.
    private var delivered: [[UInt8]: DocumentRefusal] = [:]

    private struct Known {
        var answer: Answer
        /// Whether each of its signatures counts, so that a look at them brings nothing new.
        var isComplete = false
        /// When its signers were counted last.
        var countedAt: Boottime?
    }

    /// How many documents are remembered beside those in force.
    private static let remembered = 16

    /// The documents of a source by the signers in this file.
    init(of name: SourceName, by file: SignerFile, loop: EventLoop, deliver: @escaping Deliver) {
        self.name = name
        self.file = file
        self.loop = loop
        self.deliver = deliver
        stamp = FileStamp(of: file.path)
        signers = Result { () throws(DocumentRefusal) in try file.read() }
    }

    /// Follows the file of signers, and tells whether it can be used and which documents are unproved.
    func start() {
        // The list is read at once, and not only at the fetch: the fetch before may last for a while.
        watch = PathWatch(loop, path: file.path) { [unowned self, name, deliver] in
            refresh()
            deliver(.hinted(name))
        }
        deliverProblem()
        deliverDisproofs(isFirst: true)
    }

    /// Ends the watch.
    func stop() { watch = nil }

    /// Sets the answers that the flags in force rest on, the newest first; called before the source is started, and
    /// when they change. Their signatures are checked again when the list of signers changes.
    package func setAnswersInForce(_ answers: [Answer]) {
        inForce = Set(answers.compactMap(\.signed?.identity))
        for answer in answers where answer.signed != nil {
            if let position = known.firstIndex(where: {
                $0.answer.signed?.identity == answer.signed?.identity
            }) {
                known[position].answer = answer
            } else {
                known.append(Known(answer: answer))
            }
        }
        trim()
    }

    /// Forgets the known documents: the next one is checked as if it were the first.
    func forget() {
        known = []
        inForce = []
        delivered = [:]
    }

    /// Reads the list again if its file has changed, or if the last attempt failed: after EMFILE the file is
    /// unchanged. Call it at the beginning of a fetch and at a reload: perhaps nothing told of the change.
    package func refresh() {
        let now = FileStamp(of: file.path)
        if case .success = signers, now.shows(unchangedSince: stamp) { return }
        stamp = now
        signers = Result { () throws(DocumentRefusal) in try file.read() }
        known = known.map { Known(answer: $0.answer) }
        deliverProblem()
        deliverDisproofs()
    }

    /// The answer in these bytes. The same bytes as before are not checked again, if each signature counted.
    func answer(in bytes: [UInt8]) throws(Failure) -> Answer {
        if let position = known.firstIndex(where: { $0.answer.isMade(of: bytes) }) {
            if let refusal = known[position].answer.signed.flatMap({ delivered[$0.identity] }) {
                throw Failure(refusal)
            }
            if isDue(known[position]) { recountSigners(at: position) }
            var answer = known[position].answer
            answer.confirmedAt = nil
            answer.isInherited = false
            return answer
        }
        let list = try signers.mapError { Failure($0) }.get()
        let answer = try SignedFlags.answer(in: bytes, by: list, at: loop.now.wall)
        known.insert(Known(answer: answer, countedAt: loop.now.boot), at: 0)
        trim()
        return answer
    }

    /// A failed fetch as a failure of the document: a document over `max_body` is refused.
    func failure(of fetch: Failure) -> Failure {
        fetch.isTooLarge ? Failure(DocumentRefusal(.documentTooLarge, fetch.detail)) : fetch
    }

    /// Whether the signers of a document have to be counted again: dates of keys are looked at each minute.
    private func isDue(_ document: Known) -> Bool {
        !document.isComplete
            && document.countedAt.map { loop.now.boot - $0 >= .seconds(60) } ?? true
    }

    /// Counts the signers of a known document again: the list may have gained one, or the dates of a key may
    /// have begun. A key counts as it did when the document came, or as it does now.
    private func recountSigners(at position: Int) {
        guard case .success(let list) = signers else { return }
        known[position].countedAt = loop.now.boot
        let answer = known[position].answer
        let counts = [answer.fetchedAt, loop.now.wall].compactMap { time in
            SignedFlags.authors(of: answer, by: list, at: time).map { (time, $0) }
        }
        // The first of equals: dates that have passed since take nothing back.
        guard let (time, authors) = counts.max(by: { $0.1.names.count < $1.1.names.count }),
            let signed = answer.signed
        else { return }
        known[position].answer.fetchedAt = time
        known[position].answer.signed = SignedAnswer(
            signed.order, by: authors.names, signatures: signed.signatures)
        known[position].isComplete = authors.uncounted.isEmpty
    }

    private func trim() {
        while known.count > Self.remembered + inForce.count,
            let position = known.lastIndex(where: {
                $0.answer.signed.map { !inForce.contains($0.identity) } ?? true
            })
        {
            known.remove(at: position)
        }
    }

    /// Why known documents are unproved, keyed by `SignedAnswer.identity`. Empty if the list of
    /// signers cannot be read: known flags stay in force.
    package var disproofs: [[UInt8]: String] { refusals()?.mapValues(\.description) ?? [:] }

    private func deliverDisproofs(isFirst: Bool = false) {
        guard let refusals = refusals(), refusals != delivered || isFirst else { return }
        delivered = refusals
        deliver(.disproved(name, refusals.mapValues(\.description)))
    }

    /// Tells why the list cannot be used, when that has changed. No signer counts then: a line that cannot be
    /// read may say that two of the others are one person.
    private func deliverProblem() {
        var problem: String?
        if case .failure(let refusal) = signers { problem = "\(refusal)" }
        guard problem != deliveredProblem else { return }
        deliveredProblem = problem
        deliver(.signersRead(name, problem: problem))
    }

    private func refusals() -> [[UInt8]: DocumentRefusal]? {
        guard case .success(let list) = signers else { return nil }
        return SignedFlags.disproofs(of: known.map(\.answer), by: list)
    }
}

extension Answer {
    /// Whether it was read from these bytes: the document and its signatures.
    fileprivate func isMade(of bytes: [UInt8]) -> Bool {
        guard let signed, bytes.count == body.count + signed.signatures.count else { return false }
        return bytes.starts(with: body) && bytes[body.count...].elementsEqual(signed.signatures)
    }
}

extension HostEnvironment {
    /// The file of the signers of a source.
    package func signers(_ rule: SigningRule) -> SignerFile {
        SignerFile(path: rule.signers, zone: zone, user: user)
    }
}
