package import Decision
package import JSON

extension Template {
    /// Reads the body of an answer.
    package init(_ object: JSON.Object) throws(Failure) {
        conditions = try object.list("conditions").map { value in
            let members = value.object ?? JSON.Object()
            return NamedCondition(
                name: members["name"]?.string ?? "", condition: Condition(members["condition"]))
        }
        parameters = try object.table("parameters").members.map(Parameter.init)
        doubts = []
        version = try object.table("version")["versionNumber"]?.scalarText
        try readGroups(of: object)
        parameters.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The official clients read no groups; the service is not known to leave their parameters there
    /// alone. One that is nowhere else is better read than missed.
    private mutating func readGroups(of object: JSON.Object) throws(Failure) {
        let groups = try object.table("parameterGroups")
        guard !groups.isEmpty else { return }
        var known = Set(parameters.map { ExactString($0.key) })
        for (group, value) in groups {
            let members = try (value.object ?? JSON.Object()).table("parameters")
            let more = members.members.filter { known.insert(ExactString($0.key)).inserted }
            guard !more.isEmpty else { continue }
            parameters += more.map(Parameter.init)
            doubts.append("the parameters of group \(quoted(group)) stand in the group alone")
        }
    }
}

extension Template.Parameter {
    fileprivate init(_ member: JSON.Object.Member) {
        let parameter = member.value.object ?? JSON.Object()
        key = member.key
        conditionalValues = parameter["conditionalValues"]?.object ?? JSON.Object()
        defaultValue = parameter["defaultValue"]
    }
}

extension JSON.Value {
    /// A text, or a number as it is written: the service gives 64 bits as text.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.literal
        case .null, .bool, .array, .object: nil
        }
    }
}

extension JSON.Object {
    fileprivate func list(_ key: String) throws(Failure) -> [JSON.Value] {
        switch self[key] {
        case nil: return []
        case .array(let values): return values
        case let other?:
            throw Failure(.invalid, "the template's '\(key)' is \(other.typeName), not an array")
        }
    }

    fileprivate func table(_ key: String) throws(Failure) -> JSON.Object {
        switch self[key] {
        case nil: return JSON.Object()
        case .object(let object): return object
        case let other?:
            throw Failure(.invalid, "the template's '\(key)' is \(other.typeName), not an object")
        }
    }
}
