import CivilTime
import JSON

/// An answer, and what was read from it and found about it: once for all switches that read it alike.
///
/// Of many services most read an answer by the same format and key, under the same policy. What they have in common
/// is read and compared for the first of them, and the others refer to it. So an answer costs its size, and not its
/// size times its readers.
struct SharedAnswer: Hashable, Sendable {
    var numbered: NumberedAnswer
    private var readings: [Way: Result<Reading, InvalidFlag>] = [:]
    private var likenesses: [Likeness: Bool] = [:]
    private var values: [ExactString: Result<JSON.Value, InvalidFlag>] = [:]
    private var moves: [GateMoves.Key: GateMoves] = [:]
    /// What was read and compared since `work` was last reset.
    var work = Workload()

    /// How a switch reads it.
    private struct Way: Hashable {
        let format: Format
        /// Only dates without an offset depend on it.
        var zone: Zone?
    }

    /// The flags of an earlier answer beside those of this one, at a place that a switch or a value reads.
    private enum Likeness: Hashable {
        case format(Format, before: Int)
        case value(ExactString, before: Int)
    }

    /// An answer of which nothing was read yet.
    init(_ numbered: NumberedAnswer) { self.numbered = numbered }

    var answer: Answer { numbered.answer }
    var number: Int { numbered.number }

    /// The reading by the format of a switch of `service`.
    mutating func read(by plan: Switch, of service: Service) throws(InvalidFlag) -> Reading {
        var way = Way(format: plan.format, zone: nil)
        if case .serviceEnd = plan.format { way.zone = service.zone }
        if let known = readings[way] { return try known.get() }
        work.readings += 1
        let numbered = numbered
        let result = Result { () throws(InvalidFlag) in
            try numbered.read(by: plan, of: service)
        }
        readings[way] = result
        return try result.get()
    }

    /// A value in the answer. JSON is read once for all services, and they have it in common.
    mutating func read(_ value: RemoteValue) throws(InvalidFlag) -> JSON.Value {
        guard case .json = value.type, numbered.flags[value.key] != nil else {
            return try numbered.read(value)
        }
        let key = ExactString(value.key)
        if let known = values[key] { return try known.get() }
        work.readings += 1
        let numbered = numbered
        let result = Result { () throws(InvalidFlag) in try numbered.read(value) }
        values[key] = result
        return try result.get()
    }

    /// Whether a service finds the same in an earlier answer of the source.
    mutating func isSame(as known: NumberedAnswer, for service: Service, of source: SourceName)
        -> Bool
    {
        let keys = numbered.known
        for plan in service.switches where plan.source == source {
            let isSame = isSame(.format(plan.format, before: known.number)) {
                plan.format.findsSame(in: known.flags, and: $0, known: keys)
            }
            if !isSame { return false }
        }
        for plan in service.remote where plan.source == source {
            let isSame = isSame(.value(ExactString(plan.key), before: known.number)) {
                known.flags[plan.key] == $0[plan.key]
            }
            if !isSame { return false }
        }
        return true
    }

    private mutating func isSame(_ likeness: Likeness, _ compare: (JSON.Object) -> Bool) -> Bool {
        if let known = likenesses[likeness] { return known }
        work.likenesses += 1
        let isSame = compare(numbered.flags)
        likenesses[likeness] = isSame
        return isSame
    }

    /// What these flags would do to a gate. `find` compares them with the flags in force.
    mutating func moves(_ key: GateMoves.Key, _ find: () -> GateMoves) -> GateMoves {
        if let known = moves[key] { return known }
        work.comparisons += 1
        let found = find()
        moves[key] = found
        return found
    }
}

/// What was done for answers, in things that take time in proportion to an answer.
package struct Workload: Hashable, Sendable {
    /// How often flags were read by a format, or a value as JSON.
    package var readings = 0
    /// How often the flags of two answers were compared.
    package var likenesses = 0
    /// How often the gates were compared that two orders ask for.
    package var comparisons = 0
    /// How often the work of an answer waited for its next turn.
    package var pauses = 0

    static func += (total: inout Self, work: Self) {
        total.readings += work.readings
        total.likenesses += work.likenesses
        total.comparisons += work.comparisons
        total.pauses += work.pauses
    }
}

extension SourceState {
    /// An answer for its readers. If it was offered before and not accepted by all, it comes with what was found
    /// about it then: a server may show it at each poll.
    mutating func share(_ answer: Answer) -> SharedAnswer {
        guard var known = offered, answer.isSame(as: known.answer) else {
            return SharedAnswer(number(answer))
        }
        known.numbered = NumberedAnswer(number: known.number, answer: answer, of: plan)
        known.numbered.hasVersionJump = documents.hasVersionJump(to: answer)
        return known
    }

    /// The same for the newest of its answers, as signed by those who count now; nil leaves its authors.
    func shareNewest(by authors: [String]?) -> SharedAnswer {
        var newest = SharedAnswer(answers[0])
        if let known = offered, known.number == newest.number {
            newest = known
            newest.numbered = answers[0]
        }
        if let authors, let signed = newest.answer.signed {
            newest.numbered.answer.signed = SignedAnswer(
                signed.order, by: authors, signatures: signed.signatures)
        }
        return newest
    }

    /// Keeps what was found about an answer that was offered, or nothing once it is accepted by all. Its flags take
    /// much more memory than its bytes, and come with it again.
    mutating func remember(_ answer: SharedAnswer?) {
        offered = answer
        guard var bare = answer?.answer, let number = answer?.number else { return }
        bare.flags = JSON.Object()
        offered?.numbered = NumberedAnswer(bare: bare, number: number)
    }
}

/// An answer with the number by which the switches and values of a source refer to it.
struct NumberedAnswer: Hashable, Sendable {
    let number: Int
    var answer: Answer
    /// Its flags, with the source's defaults for keys that it lacks.
    let flags: JSON.Object
    /// The keys that some switch or value of the configuration reads.
    let known: Set<ExactString>
    /// Whether it is a signed document with a version jump: few versions are left for later documents.
    var hasVersionJump = false

    /// Completes the flags of `answer` by the defaults of its source.
    init(number: Int, answer: Answer, of source: SourcePlan) {
        self.number = number
        self.answer = answer
        known = source.known
        var flags = answer.flags
        if answer.unreadable.unlisted == nil {
            for (key, value) in source.defaults where flags[key] == nil { flags[key] = value }
        }
        self.flags = flags
    }

    /// An answer whose flags are dropped.
    init(bare answer: Answer, number: Int) {
        (self.number, self.answer, flags, known) = (number, answer, answer.flags, [])
    }

    /// The reading of the answer by the format of a switch of `service`.
    func read(by plan: Switch, of service: Service) throws(InvalidFlag) -> Reading {
        if !answer.unreadable.isEmpty {
            for key in plan.format.keys(readIn: flags) {
                try answer.unreadable.check(key, in: flags)
            }
        }
        var reading = try plan.format.read(flags, in: service.zone, known: known)
        if let end = answer.signed?.order.expires {
            reading.expires = min(reading.expires ?? end, end)
        }
        return reading
    }

    /// A value in the answer.
    func read(_ value: RemoteValue) throws(InvalidFlag) -> JSON.Value {
        try answer.unreadable.check(value.key, in: flags)
        return try value.read(flags)
    }
}
