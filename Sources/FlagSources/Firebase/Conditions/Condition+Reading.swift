import Decision
package import JSON

extension Condition {
    /// Reads a condition of a template.
    ///
    /// The service leaves zeros and empty lists out (proto3 in JSON). A condition with another missing
    /// member, an unknown kind or a wrong type becomes `.unreadable`, which is false. It is no error: an
    /// operator that this program does not know must not make the rest of the template useless.
    package init(_ value: JSON.Value?) {
        var room = Int.max
        self.init(value, &room)
    }

    /// Reads a condition and those in it, while there is room for so many. The others are false.
    init(_ value: JSON.Value?, _ room: inout Int) {
        do throws(ConditionError) {
            room -= 1
            guard room >= 0 else { throw ConditionError("the template has too many conditions") }
            guard let object = value?.object else { throw ConditionError("it is not an object") }
            if let members = try object.object("orCondition") {
                self = .or(try members.conditions(&room))
            } else if let members = try object.object("andCondition") {
                self = .and(try members.conditions(&room))
            } else if try object.object("true") != nil {
                self = .constant(true)
            } else if try object.object("false") != nil {
                self = .constant(false)
            } else if let members = try object.object("percent") {
                self = .percent(try Percent(members))
            } else if let members = try object.object("customSignal") {
                self = .customSignal(try SignalTest(members))
            } else {
                throw ConditionError(
                    object.isEmpty
                        ? "it is empty" : "its kind \(quoted(object.members[0].key)) is not known")
            }
        } catch {
            self = .unreadable(error.cause)
        }
    }
}

extension Percent {
    fileprivate init(_ members: JSON.Object) throws(ConditionError) {
        seed = try members.text("seed") ?? ""
        switch try members.text("percentOperator") {
        case "LESS_OR_EQUAL": bounds = .upTo(try members.microPercent("microPercent"))
        case "GREATER_THAN": bounds = .above(try members.microPercent("microPercent"))
        case "BETWEEN":
            let range = try members.object("microPercentRange") ?? JSON.Object()
            bounds = .between(
                try range.microPercent("microPercentLowerBound"),
                try range.microPercent("microPercentUpperBound"))
        case let word: throw ConditionError(operator: word)
        }
    }
}

extension SignalTest {
    fileprivate init(_ members: JSON.Object) throws(ConditionError) {
        guard let key = try members.text("customSignalKey"), !key.isEmpty else {
            throw ConditionError("it names no signal")
        }
        let targets = try members.texts("targetCustomSignalValues")
        guard let first = targets.first else { throw ConditionError("it has no target value") }
        let word = try members.text("customSignalOperator") ?? ""
        self.key = key
        if let relation = Relation(word, of: "NUMERIC_") {
            comparison = .number(relation, first)
        } else if let relation = Relation(word, of: "SEMANTIC_VERSION_") {
            comparison = .version(relation, first)
        } else {
            switch word {
            case "STRING_CONTAINS": comparison = .containsAny(targets)
            case "STRING_DOES_NOT_CONTAIN": comparison = .containsNone(targets)
            case "STRING_EXACTLY_MATCHES": comparison = .equalsAny(targets)
            case "STRING_CONTAINS_REGEX": comparison = .matchesAny(targets)
            default: throw ConditionError(operator: word)
            }
        }
    }
}

extension Relation {
    fileprivate init?(_ word: String, of family: String) {
        guard word.hasPrefix(family) else { return nil }
        self.init(rawValue: String(word.dropFirst(family.count)))
    }
}

extension ConditionError {
    fileprivate init(operator word: String?) {
        self.init(word.map { "its operator \(quoted($0)) is not known" } ?? "it has no operator")
    }
}

extension JSON.Object {
    /// The member as `read` finds it; nil if it is missing or null. `kind` is its type, for the error.
    private func member<Value>(
        _ key: String, _ kind: String, _ read: (JSON.Value) -> Value?
    ) throws(ConditionError) -> Value? {
        guard let value = self[key], value != .null else { return nil }
        guard let member = read(value) else {
            throw ConditionError("'\(key)' is \(value.typeName), not \(kind)")
        }
        return member
    }

    fileprivate func object(_ key: String) throws(ConditionError) -> JSON.Object? {
        try member(key, "an object", \.object)
    }

    fileprivate func text(_ key: String) throws(ConditionError) -> String? {
        try member(key, "a string", \.string)
    }

    fileprivate func texts(_ key: String) throws(ConditionError) -> [String] {
        let values = try member(key, "an array", \.array) ?? []
        let texts = values.compactMap(\.string)
        guard texts.count == values.count else {
            throw ConditionError("'\(key)' holds a value that is not a string")
        }
        return texts
    }

    fileprivate func microPercent(_ key: String) throws(ConditionError) -> Int64 {
        guard let number = try member(key, "a number", \.number) else { return 0 }
        guard let count = number.int64 else {
            throw ConditionError("'\(key)' is \(number.literal), not a whole number")
        }
        return count
    }

    fileprivate func conditions(_ room: inout Int) throws(ConditionError) -> [Condition] {
        try member("conditions", "an array", \.array)?.map { Condition($0, &room) } ?? []
    }
}
