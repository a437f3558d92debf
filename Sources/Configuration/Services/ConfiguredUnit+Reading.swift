import Decision
package import Gates
import JSON

/// The keys of a unit that is written as a table.
enum UnitKey: String, SettingKey {
    case unit
    case state
    case early
    case on
    case runAtOpen = "run_at_open"
    case allow
    case onlyByGate = "only_by_gate"
}

extension ValueType where Value == [ConfiguredUnit] {
    /// The units of a service, each of them once. `isSum`: the lists of several files were added up, which may repeat
    /// an item.
    static func units(isSum: Bool = false) -> Self {
        Self(expected: "a list of units such as [\"web.service\"]") { value throws(ValueProblem) in
            guard case .array(let nodes) = value else {
                guard case .string(let text) = value else { throw .wrongType() }
                throw .wrongType(hint: "write [\(text.tomlText)]")
            }
            var units: [ConfiguredUnit] = []
            for node in nodes {
                let unit = try ConfiguredUnit(node.value)
                if let other = units.first(where: { $0.name == unit.name }) {
                    guard !isSum || other != unit else { continue }
                    throw .bad("list", cause: "it names \(unit.name.text.shown) twice")
                }
                units.append(unit)
            }
            return units
        } write: {
            "[\($0.map(\.toml).joined(separator: ", "))]"
        }
    }
}

extension ValueType where Value == [ConfiguredUnit] {
    /// The units of `on_change`; `%s` in a name stands for the service.
    static func onChange(of service: ServiceName) -> Self {
        .list(
            expected: "a list of units such as [\"notify@%s.service\"]", \.name.text, isHinted: true
        ) { element throws(ValueProblem) in
            guard case .string(let text) = element else { throw .wrongType() }
            var unit = ConfiguredUnit(
                try ConfiguredUnit.name(.string(named(text, of: service))))
            unit.kind = .change
            return unit
        }
    }

    private static func named(_ pattern: String, of service: ServiceName) -> String {
        var (name, rest) = ("", pattern[...])
        while let character = rest.popFirst() {
            if character == "%", rest.first == "s" {
                rest.removeFirst()
                name += service.text
            } else {
                name.append(character)
            }
        }
        return name
    }
}

extension ConfiguredUnit {
    /// Reads an item of a list: the name of a unit, or a table.
    fileprivate init(_ value: Node.Value) throws(ValueProblem) {
        guard case .table(let table) = value else {
            self.init(try Self.name(value))
            return
        }
        let unknown = table.members.first { !UnitKey.words.contains(where: $0.key.hasSameBytes) }
        if let key = unknown?.key {
            let meant = nearest(to: key, among: UnitKey.words).map {
                "did you mean \($0.quoted)?"
            }
            throw .bad(
                "list",
                cause: "unknown key \(key.shown) of a unit; "
                    + (meant ?? "known are \(UnitKey.words.map(\.quoted).joined(separator: ", "))"))
        }
        guard let unit = table[UnitKey.unit.rawValue] else {
            throw .bad("list", cause: "a table in it has no 'unit'")
        }
        self.init(try Self.name(unit.node.value))
        isEarly = try flag(.early, in: table)
        runsAtOpen = try flag(.runAtOpen, in: table)
        isAllowed = try flag(.allow, in: table)
        isOnlyByGate = try flag(.onlyByGate, in: table)
        if let on = try text(.on, in: table) {
            guard let kind = GateTarget.Kind(hook: on) else {
                throw bad("'on' is \"notice\" or \"change\"")
            }
            self.kind = kind
        }
        if let state = try text(.state, in: table) {
            guard let kind = GateTarget.Kind(attachable: state), !kind.isHook else {
                throw bad("\(state.shown) is no state to which units are attached")
            }
            guard !self.kind.isHook else { throw bad("'on' goes without 'state'") }
            self.kind = kind
        }
        if let problem { throw bad(problem) }
    }

    /// What does not go together, as a clause; nil if all does.
    package var problem: String? {
        if isEarly, !kind.isOfClosedGate {
            return
                "'early' is for units that run behind a closed gate: \"maintenance\", \"ended\" or "
                + "\"update-required\""
        }
        if runsAtOpen, kind.isHook { return "'run_at_open' goes without 'on'" }
        return isOnlyByGate && kind != .open
            ? "'only_by_gate' is for units that run while the gate is open" : nil
    }

    fileprivate static func name(_ value: Node.Value) throws(ValueProblem) -> UnitName {
        guard case .string(let text) = value else { throw .wrongType() }
        if let unit = UnitName(text) { return unit }
        if let instance = UnitName.instance(ofTemplate: text) {
            throw .bad(
                "list",
                cause: "\(text.shown) is a template, which never runs; name an instance: "
                    + instance.shown)
        }
        let meant = UnitName(text + ".service").map { "; did you mean \($0.text.shown)?" }
        throw .bad("list", cause: "\(text.shown) is not the name of a unit\(meant ?? "")")
    }

    private func flag(_ key: UnitKey, in table: Table) throws(ValueProblem) -> Bool {
        guard let value = table[key.rawValue]?.node.value else { return false }
        guard case .boolean(let flag) = value else {
            throw bad("'\(key.rawValue)' is true or false, and not \(value.noun)")
        }
        return flag
    }

    private func text(_ key: UnitKey, in table: Table) throws(ValueProblem) -> String? {
        guard let value = table[key.rawValue]?.node.value else { return nil }
        guard case .string(let text) = value else {
            throw bad("'\(key.rawValue)' is a string, and not \(value.noun)")
        }
        return text
    }

    private func bad(_ cause: String) -> ValueProblem {
        .bad("list", cause: "\(name.text.shown): \(cause)")
    }

    /// The item in TOML: the name alone if nothing else is to be said.
    package var toml: String {
        var members: [String] = []
        switch kind {
        case .open, .closed, .variant: break
        case .notice, .change: members.append("on = \(kind.word.tomlText)")
        case .countdown, .updateRequired, .maintenance, .ended:
            members.append("state = \(kind.word.tomlText)")
        }
        if isEarly { members.append("early = true") }
        if runsAtOpen { members.append("run_at_open = true") }
        if isAllowed { members.append("allow = true") }
        if isOnlyByGate { members.append("only_by_gate = true") }
        let name = name.text.tomlText
        return members.isEmpty
            ? name : "{ unit = \(name), \(members.joined(separator: ", ")) }"
    }
}

extension TableDecoder {
    /// The units of `[attached]`, by service, with the service's key.
    func attachedUnits() -> [(member: Table.Member, service: ServiceName, units: [ConfiguredUnit])]
    {
        table.members.compactMap { member in
            guard let service: ServiceName = name(member, of: "a service"),
                let units = optional(member, .units(isSum: true))
            else { return nil }
            return (member, service, units)
        }
    }
}
