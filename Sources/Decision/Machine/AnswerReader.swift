import CivilTime
import JSON

/// Reads one answer for the services of one loop: once for each format and key.
///
/// Many services may read an answer by the same format and key, under the same policy. What they have in common is read
/// and compared for the first of them.
struct AnswerReader: Sendable {
    var numbered: NumberedAnswer
    private var readings: [Way: Result<Reading, InvalidFlag>] = [:]
    private var values: [ExactString: Result<JSON.Value, InvalidFlag>] = [:]
    private var moves: [GateMoves.Key: GateMoves] = [:]

    /// How a switch reads it.
    private struct Way: Hashable {
        let format: Format
        /// Only dates without an offset depend on it.
        var zone: Zone?
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
        let numbered = numbered
        let result = Result { () throws(InvalidFlag) in
            try numbered.read(by: plan, of: service)
        }
        readings[way] = result
        return try result.get()
    }

    /// A value in the answer. JSON is read once for all services.
    mutating func read(_ value: RemoteValue) throws(InvalidFlag) -> JSON.Value {
        guard case .json = value.type, numbered.flags[value.key] != nil else {
            return try numbered.read(value)
        }
        let key = ExactString(value.key)
        if let known = values[key] { return try known.get() }
        let numbered = numbered
        let result = Result { () throws(InvalidFlag) in try numbered.read(value) }
        values[key] = result
        return try result.get()
    }

    /// What these flags would do to a gate. `find` compares them with the flags in force.
    mutating func moves(_ key: GateMoves.Key, _ find: () -> GateMoves) -> GateMoves {
        if let known = moves[key] { return known }
        let found = find()
        moves[key] = found
        return found
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
