import CivilTime

/// The state of one switch: the flags in force, and the fate of the newest answer of its source.
struct SwitchState: Hashable, Sendable {
    /// Since when the service waits for its first answer: the start, or the reload that added it.
    private(set) var awaitedSince: Boottime
    /// The reading of the flags in force; nil before the first.
    private(set) var reading: Reading?
    /// The answer of `reading`.
    private(set) var answer: NumberedAnswer?
    /// The version of the flags in force: it changes only with flags that the service reads.
    private(set) var version: String?
    /// A newer answer that takes force at the next start, or by `activate`.
    private(set) var staged: Staged?
    private(set) var newest = NewestAnswer.accepted
    /// The highest version in accepted flags; nil if they had none.
    private var highestVersion: Int64?
    /// The last version jump in accepted flags; nil without one.
    private(set) var versionJump: VersionJump?

    /// Whether the signatures of the flags in force do not count any more.
    private(set) var isUnproved = false

    /// An answer that is not in force yet. Few switches have one, and its reading lies apart.
    indirect enum Staged: Hashable {
        /// Without a reading, it cannot be read any more since a reload.
        case answer(number: Int, Reading?)

        var number: Int {
            switch self {
            case .answer(let number, _): number
            }
        }
        var reading: Reading? {
            switch self {
            case .answer(_, let reading): reading
            }
        }
    }

    /// A switch without flags whose service waits for them since `moment`.
    init(awaitedSince moment: Boottime) { awaitedSince = moment }

    var problem: InvalidFlag? { newest.problem }

    /// The number of the newest answer that it could read: the staged answer, or the one in force.
    var newestReadable: Int? { staged?.number ?? answer?.number }

    // MARK: - New answers

    /// The outcome of an offer.
    enum Disposition {
        /// The answer would move the gate, and more answers have to agree or more people have to sign.
        case waits
        /// The answer takes force at the next start.
        case staged
        case inForce
    }

    /// Offers a new answer that was read. `isForNextStart` stages it, unless there are no flags yet. It lacks the
    /// `missing` signatures. `mover` is this answer as the first in a row that move the gate; nil if it does not move
    /// the gate.
    mutating func offer(
        _ answer: NumberedAnswer, _ next: Reading, version: String?, isForNextStart: Bool,
        missing: MissingSignatures? = nil, mover: Unconfirmed?
    ) -> Disposition {
        if let missing {
            newest = .awaitingSignature(missing)
            return .waits
        }
        if isForNextStart, reading != nil {
            staged = .answer(number: answer.number, next)
            raiseVersion(to: next)
            newest = .accepted
            return .staged
        }
        if var mover {
            if let before = newest.unconfirmed, before.gate == mover.gate {
                mover.count += before.count
            }
            if mover.count < mover.needed {
                newest = .unconfirmed(mover)
                return .waits
            }
        }
        putInForce(answer, next, version: version)
        newest = .accepted
        return .inForce
    }

    /// Whether the answer in force is the newest, and a new answer with the same flags changes nothing.
    var isStable: Bool { newest.isAccepted && staged == nil && answer?.answer.isInherited == false }

    /// Replaces the answer by one whose flags are those in force. True if this may change the verdict.
    mutating func replaceAnswer(with answer: NumberedAnswer) -> Bool {
        self.answer = answer
        defer { isUnproved = false }
        return isUnproved
    }

    /// Whether it rests on this answer of its source, in force or staged, and on no other.
    func rests(on newest: Int) -> Bool { newestReadable == newest && self.newest.isAccepted }

    /// Marks the newest answer as invalid; the flags in force stay. False if it had this problem already.
    mutating func markInvalid(_ problem: InvalidFlag) -> Bool {
        guard newest != .invalid(problem) else { return false }
        newest = .invalid(problem)
        return true
    }

    /// Whether the source knows other than the switch whether the flags in force are proved.
    func isProofOutdated(by documents: DocumentTrust) -> Bool {
        isUnproved != answer.map { !documents.isProved($0.answer) } ?? false
    }

    /// The flags in force are not proved any more, or are again.
    mutating func proofChanged() { isUnproved.toggle() }

    /// Puts an answer in force by its reading, with its version for the service.
    mutating func putInForce(_ answer: NumberedAnswer, _ reading: Reading, version: String?) {
        if !answer.answer.isInherited { raiseVersion(to: reading) }
        self.reading = reading
        self.version = version
        self.answer = answer
        (staged, isUnproved) = (nil, false)
    }

    private mutating func raiseVersion(to reading: Reading) {
        guard let version = reading.version, version != highestVersion else { return }
        versionJump = VersionJump(from: highestVersion, to: version)
        highestVersion = version
    }

    /// Throws for a reading whose version is lower than an accepted one, or missing. Flags that had
    /// a version once must always have one: without it, new flags cannot be told from old flags.
    func checkVersion(of next: Reading) throws(InvalidFlag) {
        guard let highest = highestVersion else { return }
        guard let version = next.version else { throw .missing(key: "version") }
        guard version < highest else { return }
        throw .wrongType(
            key: "version", expected: "\(highest) or more, as it was before", found: "\(version)")
    }

    // MARK: - Known answers

    /// Puts the newest readable answer at these `positions` in force.
    mutating func adopt(
        _ answers: inout [AnswerReader], _ positions: ClosedRange<Int>, by plan: Switch,
        of service: Service
    ) {
        for index in positions {
            do {
                let reading = try answers[index].read(by: plan, of: service)
                let answer = answers[index].numbered
                putInForce(
                    answer, reading, version: service.version(of: answer.answer, from: plan.source))
                return
            } catch {
                if case .accepted = newest { newest = .invalid(error) }
            }
        }
    }

    /// Notes that the newest known answer counts.
    mutating func acceptNewest() { newest = .accepted }

    /// Notes that the present address gives the inherited answer too, so that its version counts.
    mutating func acceptAsOwn(_ answer: NumberedAnswer, version: String?) {
        guard self.answer?.number == answer.number, let reading else { return }
        self.answer = answer
        self.version = version
        raiseVersion(to: reading)
    }

    /// Keeps the flags in force after the source's address has changed, without their version. The service waits only
    /// for a switch without flags.
    mutating func inherit(at now: Now) {
        (newest, highestVersion, versionJump) = (.accepted, nil, nil)
        if reading == nil { awaitedSince = now.boot }
    }

    /// Waits for the first document for another audience: the flags in force are not proved.
    mutating func awaitProof(at now: Now) {
        newest = .accepted
        awaitedSince = now.boot
    }

    /// Waits since the same time as `known`, which has flags of the same source.
    mutating func wait(like known: SwitchState) { awaitedSince = known.awaitedSince }

    /// Takes back what is staged.
    mutating func unstage() { staged = nil }

    /// Stages a known answer, also if it cannot be read any more.
    mutating func stage(_ answer: inout AnswerReader, by plan: Switch, of service: Service) {
        do {
            staged = .answer(number: answer.number, try answer.read(by: plan, of: service))
        } catch {
            staged = .answer(number: answer.number, nil)
        }
    }
}
