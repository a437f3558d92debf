package import JSON

extension Plan {
    /// The members of a source's flags that no switch and no value of this configuration reads, by their places, such
    /// as `shop.end_at` or `windows[0].titel`. A name that begins with `$` or `x-` is a remark of its author.
    package func unknownMembers(in flags: JSON.Object, of source: SourceName) -> [String] {
        var found: [String] = []
        var known = (keysRead[source] ?? []).union(
            sources.contains { $0.name == source && $0.isSigned } ? SignedMetadata.keys : [])
        // The flag that is the whole answer is no member.
        known.insert(ExactString(FlagDocument.wholeKey))
        found += flags.unknown(besides: known)
        let switches = services.flatMap(\.switches).filter { $0.source == source }
        let values = services.flatMap(\.remote).filter { $0.source == source && $0.type == .json }
        for key in switches.compactMap({ $0.format.object(in: flags) }).eachOnce {
            let formats = switches.map(\.format).filter { $0.object(in: flags) == key }
            let isWhole = key == FlagDocument.wholeKey
            guard let object = isWhole ? flags : flags.object(in: key),
                !values.contains(where: { $0.key.isSame(as: key) })
            else { continue }
            let place = isWhole ? "" : "\(key)."
            if !isWhole {
                let words = Set(formats.flatMap(\.members).map(ExactString.init))
                found += object.unknown(besides: words).map { place + $0 }
            }
            let isSwitch = formats.contains {
                if case .switchObject = $0 { true } else { false }
            }
            if isSwitch { found += SwitchObject.unknownOfLists(in: object).map { place + $0 } }
        }
        return found
    }
}

extension Format {
    /// The key of the object that it reads from flags, or `wholeKey` where the flags are the object; nil for a format
    /// of single values.
    fileprivate func object(in flags: JSON.Object) -> String? {
        switch self {
        case .serviceEnd, .boolean: nil
        case .status(let place), .maintenance(let place), .switchObject(let place):
            switch place {
            case .whole: FlagDocument.wholeKey
            case .member(let key): key
            case .memberOrWhole(let key): flags[key] == nil ? FlagDocument.wholeKey : key
            }
        }
    }
}

extension SwitchObject {
    /// The unknown members of its windows and steps.
    fileprivate static func unknownOfLists(in object: JSON.Object) -> [String] {
        let lists: [(Key, Set<ExactString>)] = [(.windows, windowKeys), (.rollout, stepKeys)]
        return lists.flatMap { key, known in
            (object[key.rawValue]?.array ?? []).enumerated().flatMap { index, element in
                (element.object?.unknown(besides: known) ?? [])
                    .map { "\(key.rawValue)[\(index)].\($0)" }
            }
        }
    }

    private static let windowKeys = Set(
        ["from", "until", "title", "message"].map(ExactString.init))
    private static let stepKeys = Set(["at", "percent"].map(ExactString.init))
}

extension JSON.Object {
    /// The names of its members that are not among these, and no remarks.
    fileprivate func unknown(besides known: Set<ExactString>) -> [String] {
        members.map(\.key).filter { !known.contains(ExactString($0)) && !$0.isRemark }
    }

    /// A member that is an object, or a string that holds one as JSON.
    fileprivate func object(in key: String) -> JSON.Object? {
        guard let value = self[key] else { return nil }
        if let object = value.object { return object }
        guard let text = value.string,
            case .success(let parsed) = Result(catching: { try JSON.Value.parse(text, of: key) })
        else { return nil }
        return parsed.object
    }
}

extension String {
    /// Whether the member of this name is a remark of the author, which no format reads and nobody has misspelt.
    var isRemark: Bool { hasPrefix("$") || hasPrefix("x-") }
}

extension [String] {
    fileprivate var eachOnce: [String] {
        reduce(into: []) { found, text in
            if !found.contains(where: { $0.isSame(as: text) }) { found.append(text) }
        }
    }
}
