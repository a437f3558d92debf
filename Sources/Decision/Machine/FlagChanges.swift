import JSON

/// From the newest answer of a source to the next one: which keys have another value, or are new or gone.
struct FlagChanges: Sendable {
    /// The number of the answer before.
    let before: Int
    let answer: NumberedAnswer
    private var keys: Set<ExactString> = []

    /// Compares the flags of two answers, with the defaults of their source. Nil if values do not tell
    /// everything: each flag has a number of its own, or some could not be read.
    init?(from before: NumberedAnswer, to answer: NumberedAnswer) {
        if case .ofEach = answer.answer.version { return nil }
        guard before.answer.unreadable.isEmpty, answer.answer.unreadable.isEmpty else { return nil }
        self.before = before.number
        self.answer = answer
        let (old, new) = (before.flags.members, answer.flags.members)
        var same = 0
        for position in new.indices {
            let (key, value) = new[position]
            // Keys nearly always keep their order, so that nothing has to be searched.
            let isInPlace =
                position < old.count && ExactString(old[position].key) == ExactString(key)
            let known = isInPlace ? old[position].value : before.flags[key]
            if known != nil { same += 1 }
            if known != value { keys.insert(ExactString(key)) }
        }
        guard same < old.count else { return }
        for (key, _) in old where answer.flags[key] == nil { keys.insert(ExactString(key)) }
    }

    /// Whether a format reads a key that has changed. If not, its reading is the same.
    func concern(_ format: Format) -> Bool {
        if keys.isEmpty { return false }
        switch format {
        case .serviceEnd(let endKeys, let countdownKey):
            return hasChanged(countdownKey) || endKeys.contains { hasChanged($0) }
        case .boolean(let flag): return hasChanged(flag.key)
        case .status(let place), .maintenance(let place), .switchObject(let place):
            switch place {
            case .whole: return true
            case .member(let key): return hasChanged(key)
            case .memberOrWhole(let key): return hasChanged(key) || answer.flags[key] == nil
            }
        }
    }

    /// Whether the one member that a format reads has changed, so that nothing has to be compared. Other
    /// formats choose among keys: only a comparison tells.
    func replace(_ format: Format) -> Bool {
        switch format {
        case .maintenance(.member(let key)), .status(.member(let key)),
            .switchObject(.member(let key)):
            hasChanged(key)
        case .boolean(let flag): hasChanged(flag.key)
        case .serviceEnd, .maintenance, .status, .switchObject: false
        }
    }

    private func hasChanged(_ key: String) -> Bool { keys.contains(ExactString(key)) }
}
