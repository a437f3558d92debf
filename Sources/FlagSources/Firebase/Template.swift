import CivilTime
package import Decision
package import JSON

/// A server template of Remote Config: conditions by priority, and parameters with a value for each.
package struct Template {
    /// A parameter, whose key is that of a flag.
    package struct Parameter: Hashable, Sendable {
        package var key: String
        /// The values by the names of conditions.
        package var conditionalValues: JSON.Object
        package var defaultValue: JSON.Value?
    }

    /// With the names by which parameters refer to them.
    package var conditions: [(name: String, condition: Condition)]
    /// In the order of their keys.
    package var parameters: [Parameter]
    /// The number that the service gives to each publication.
    package var version: String?
    /// Warnings about the template itself, each a clause.
    package var warnings: [String] = []

    /// How many conditions are read, with those inside of others. The console allows 500 and a few levels.
    private static let conditionLimit = 20_000

    /// Reads the body of an answer.
    package init(_ object: JSON.Object) throws(Failure) {
        do throws(ConditionError) {
            var room = Self.conditionLimit
            let list = try object.member("conditions", "an array", isNullMissing: false, \.array)
            conditions = (list ?? []).map { value in
                let members = value.object ?? JSON.Object()
                return (members["name"]?.string ?? "", Condition(members["condition"], &room))
            }
            parameters = try object.table("parameters").members.map(Parameter.init)
            version = try object.table("version")["versionNumber"]?.scalarText
            try readGroups(of: object)
        } catch {
            throw Failure(.invalid, "the template's \(error.cause)")
        }
        parameters.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The official clients read no groups, since their parameters stand at the top level too. A parameter
    /// that stands in a group alone is read, with a warning.
    private mutating func readGroups(of object: JSON.Object) throws(ConditionError) {
        let groups = try object.table("parameterGroups")
        guard !groups.isEmpty else { return }
        var known = Set(parameters.map { ExactString($0.key) })
        for (group, value) in groups {
            let members = try (value.object ?? JSON.Object()).table("parameters")
            let more = members.members.filter { known.insert(ExactString($0.key)).inserted }
            guard !more.isEmpty else { continue }
            parameters += more.map(Parameter.init)
            warnings.append(
                "group \(quoted(group)) has parameters that are not at the top level; official "
                    + "clients ignore them")
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
    /// A string, or the literal of a number: the service writes 64-bit numbers as strings.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.literal
        case .null, .bool, .array, .object: nil
        }
    }
}

extension JSON.Object {
    fileprivate func table(_ key: String) throws(ConditionError) -> JSON.Object {
        try member(key, "an object", isNullMissing: false, \.object) ?? JSON.Object()
    }
}

extension Template {
    /// The value of each parameter for this host, a string, by the first true condition that has one. A
    /// parameter without a value here, or with the default of the application, is absent.
    package func flags(
        in context: EvaluationContext, _ tools: Tools
    ) -> (flags: JSON.Object, warnings: [String]) {
        var evaluator = Evaluator(context, tools)
        var rank: [ExactString: (place: Int, isTrue: Bool)] = [:]
        rank.reserveCapacity(conditions.count)
        for (place, named) in conditions.enumerated() {
            // Of two conditions with one name, the first gives the rank and the last the result.
            let isTrue = evaluator.isTrue(named.condition, named: named.name)
            rank[ExactString(named.name), default: (place, isTrue)].isTrue = isTrue
        }
        var flags = JSON.Object()
        var warnings = self.warnings + evaluator.warnings
        for parameter in parameters {
            do throws(ConditionError) {
                guard let value = try parameter.value(by: rank) else { continue }
                flags[parameter.key] = .string(value)
            } catch {
                warnings.append("parameter \(quoted(parameter.key)): \(error.cause)")
            }
        }
        return (flags, warnings)
    }
}

extension Template.Parameter {
    /// The value by the conditions; nil for the default of the application.
    fileprivate func value(
        by rank: [ExactString: (place: Int, isTrue: Bool)]
    ) throws(ConditionError) -> String? {
        var best: (place: Int, value: JSON.Value)?
        for (name, value) in conditionalValues {
            guard let condition = rank[ExactString(name)], condition.isTrue else { continue }
            if best.map({ condition.place < $0.place }) ?? true { best = (condition.place, value) }
        }
        guard let chosen = best?.value ?? defaultValue else { return nil }
        guard let wrapper = chosen.object else {
            throw ConditionError("its value is not an object")
        }
        if wrapper["useInAppDefault"]?.bool == true { return nil }
        if let text = wrapper["value"]?.string { return text }
        // Rollouts, experiments and personalizations have values of clients alone.
        let kind =
            wrapper.members.first.map { "has the unsupported kind \(quoted($0.key))" } ?? "is empty"
        throw ConditionError("its value \(kind); it is treated as missing")
    }
}

extension Answer {
    /// An answer whose body is written from the flags, not copied from the server: it has the flags
    /// in the order of their keys, so that the same flags are the same bytes.
    init(_ flags: JSON.Object, validators: Validators, version: String?, fetchedAt: Instant) {
        let sorted = flags.sortedByKey
        self.init(
            body: sorted.bytes, flags: sorted, validators: validators,
            version: version.map(FlagVersion.ofAll),
            fetchedAt: fetchedAt)
    }
}

extension JSON.Object {
    /// The object with its members in the order of their keys, byte by byte.
    var sortedByKey: JSON.Object {
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return JSON.Object(sorted.map { ($0.key, $0.value) })
    }
}

extension [String] {
    /// The first twenty of these clauses, and how many more there are: there may be thousands.
    var summed: [String] {
        let shown = 20
        return count <= shown
            ? self : prefix(shown) + ["and \(count - shown) more things are strange"]
    }
}

/// The versions of a template: the fetched ones and those that a stream announces. Remote Config gives each
/// publication a higher number than the one before, also after a rollback.
struct TemplateVersions {
    /// The newest version that was fetched since the start.
    private(set) var newest: Int64?
    /// The last rise of the newest version, if it looks like a mistake.
    private var jump: VersionJump?
    /// The newest version that was announced and not fetched.
    private var announced: Int64?
    private var attempts = 0

    /// How often the service is asked for a version that it has announced and does not serve yet.
    private static let attemptLimit = 3

    /// Records the version of an answer. Throws for a lower version, so that flags do not go back
    /// and forth: it comes from a server that lags behind, or from a replayed answer.
    mutating func record(_ text: String?) throws(Failure) {
        guard let number = text.flatMap({ Int64($0) }) else { return }
        if let newest, number < newest {
            throw Failure(
                .invalid,
                "template version \(number) is lower than \(newest), which this host has read")
        }
        if newest != number { jump = VersionJump(from: newest, to: number) }
        newest = number
    }

    /// The warning about the newest version; nil without one.
    var warning: String? { jump?.warning("template version") }

    /// Records that a version exists. Returns whether it is newer than every fetched version.
    mutating func versionAnnounced(_ version: Int64) -> Bool {
        guard version > newest ?? -1 else { return false }
        if version > announced ?? -1 {
            announced = version
            attempts = 0
        }
        return true
    }

    /// Whether to fetch again soon: the service may announce a version before it serves it.
    mutating func needFetch() -> Bool {
        guard let announced, announced > newest ?? -1, attempts < Self.attemptLimit else {
            self.announced = nil
            return false
        }
        attempts += 1
        return true
    }
}
