import JSON

/// What a published file promises to programs: its members, variables or metrics, and the type of each.
/// docs/stability.md
/// says for how long.
package struct PublishedShape: Sendable {
    /// The types that were seen, by the path of the member, such as `services[].name`.
    private var types: [String: Set<String>] = [:]

    /// Whether a file with this name has members.
    package static func hasMembers(_ name: String) -> Bool {
        [".json", ".jsonl", ".env", ".prom"].contains { name.hasSuffix($0) }
    }

    /// The shape of a file with this name.
    package init(of name: String, _ text: String) throws {
        if name.hasSuffix(".jsonl") {
            for line in text.split(separator: "\n") {
                add(try JSON.Value.parse(String(line)), at: "[]")
            }
        } else if name.hasSuffix(".json") {
            add(try JSON.Value.parse(text), at: "")
        } else if name.hasSuffix(".env") {
            for line in text.split(separator: "\n") {
                types[String(line.prefix { $0 != "=" }), default: []].insert("a variable")
            }
        } else {
            for line in text.split(separator: "\n") { addMetric(String(line)) }
        }
    }

    private mutating func add(_ value: JSON.Value, at path: String) {
        types[path, default: []].insert(value.typeName)
        for element in value.array ?? [] { add(element, at: path + "[]") }
        for member in value.object?.members ?? [] {
            add(member.value, at: path.isEmpty ? member.key : "\(path).\(member.key)")
        }
    }

    /// The type of a metric, or a label of its samples.
    private mutating func addMetric(_ line: String) {
        let words = line.split(separator: " ")
        if line.hasPrefix("# TYPE "), words.count == 4 {
            types[String(words[2]), default: []].insert("a \(words[3])")
        } else if !line.hasPrefix("#"), let start = line.firstIndex(of: "{"),
            let end = line.lastIndex(of: "}")
        {
            let name = line[..<start]
            // A value in these files has no quotes.
            for part in line[line.index(after: start)..<end].split(separator: "\"").enumerated()
            where part.offset.isMultiple(of: 2) {
                let label = part.element.drop { $0 == "," }.dropLast()
                types["\(name){\(label)}", default: []].insert("a label")
            }
        }
    }

    /// The promises of `older` that this breaks, each in a sentence. What was added breaks none.
    package func breaks(_ older: PublishedShape, of version: String) -> [String] {
        older.types.sorted { $0.key < $1.key }.compactMap { path, before in
            guard let now = types[path] else {
                return "'\(path)' of \(version) is gone: see docs/stability.md"
            }
            let (known, present) = (before.subtracting(["null"]), now.subtracting(["null"]))
            let others = present.subtracting(known)
            if known.isEmpty || others.isEmpty && !present.isEmpty { return nil }
            let (old, new) = (known.sorted(), (others.isEmpty ? now : others).sorted())
            return "'\(path)' was \(old.joined(separator: " or ")) in \(version), and is "
                + "\(new.joined(separator: " or ")): see docs/stability.md"
        }
    }
}
