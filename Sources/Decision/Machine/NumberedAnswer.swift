import JSON

/// An answer with the number by which the switches and values of a source refer to it.
struct NumberedAnswer: Hashable, Sendable {
    let number: Int
    var answer: Answer
    /// Its flags, with the source's defaults for keys that it lacks.
    let flags: JSON.Object
    /// Whether it is a signed document with a version jump: few versions are left for later documents.
    var hasVersionJump = false

    /// Completes the flags of `answer` by `defaults`.
    init(number: Int, answer: Answer, defaults: JSON.Object) {
        self.number = number
        self.answer = answer
        var flags = answer.flags
        if answer.unreadable.unlisted == nil {
            for (key, value) in defaults where flags[key] == nil { flags[key] = value }
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
        var reading = try plan.format.read(flags, in: service.zone)
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
