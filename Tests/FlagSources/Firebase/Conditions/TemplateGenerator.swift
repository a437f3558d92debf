import Decision
import FlagSources
import JSON
import Signing

/// Random templates and contexts, of everything on which the official clients agree.
struct TemplateGenerator {
    /// A template as the service sends it, and the host that it is evaluated for.
    struct Case {
        let template: JSON.Object
        let context: EvaluationContext
        /// The context as the Python client takes it.
        let json: JSON.Value
    }

    private var random: SeededRandom
    /// The texts of the present host's signals.
    private var texts: [(key: String, text: String)] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> Case {
        let identity = pick(["", "host-1", "wørlÐ", "😊", "çonfįġ", "7"] + [word()])
        var signals: [String: SignalValue] = [:]
        texts = []
        var members: [(String, JSON.Value)] = []
        for key in Self.signalKeys where !chance(6) {
            let (signal, json) = signal()
            texts.append((key, json.string ?? json.serialized()))
            signals[key] = signal
            members.append((key, json))
        }
        if !identity.isEmpty || chance(2) {
            members.append(("randomization_id", .string(identity)))
        }
        return Case(
            template: template(for: identity),
            context: EvaluationContext(randomizationID: identity, signals: signals),
            json: .object(JSON.Object(members)))
    }

    private static let signalKeys = ["tier", "größe", "version", "build", "空"]

    private mutating func template(for identity: String) -> JSON.Object {
        var names = (0..<Int.random(in: 0...4, using: &random)).map { "condition \($0)" }
        // Two conditions of one name: the service forbids that, the clients accept it.
        if names.count > 1, chance(10) { names[1] = names[0] }
        let conditions = names.map { name -> JSON.Value in
            let depth = Int.random(in: 0...6, using: &random)
            return .object([
                "name": .string(name), "condition": condition(depth: depth, for: identity),
            ])
        }
        var parameters = JSON.Object()
        for (number, name) in names.enumerated() {
            // This parameter shows the result of the condition.
            parameters["sees \(number)"] = .object([
                "conditionalValues": .object(JSON.Object([(name, Self.wrapped("true"))])),
                "defaultValue": Self.wrapped("false"),
            ])
        }
        for number in 0..<Int.random(in: 0...3, using: &random) {
            parameters["parameter \(number)"] = parameter(among: names)
        }
        var template = JSON.Object()
        if !conditions.isEmpty || chance(2) { template["conditions"] = .array(conditions) }
        if !parameters.isEmpty || chance(2) { template["parameters"] = .object(parameters) }
        return template
    }

    private mutating func parameter(among names: [String]) -> JSON.Value {
        var members = JSON.Object()
        let values = names.shuffled(using: &random).filter { _ in random.next() % 3 > 0 }
        if !values.isEmpty || chance(2) {
            members["conditionalValues"] = .object(
                JSON.Object((values + ["no condition"]).map { ($0, value()) }))
        }
        if !chance(4) { members["defaultValue"] = value() }
        members["valueType"] = "STRING"
        return .object(members)
    }

    private mutating func value() -> JSON.Value {
        chance(5) ? .object(["useInAppDefault": true]) : Self.wrapped(word())
    }

    private static func wrapped(_ text: String) -> JSON.Value { .object(["value": .string(text)]) }

    // MARK: - Conditions

    /// A condition with `depth` levels of `or` and `and` above its deepest leaf.
    private mutating func condition(depth: Int, for identity: String) -> JSON.Value {
        guard depth > 0 else { return leaf(for: identity) }
        var parts = [condition(depth: depth - 1, for: identity)]
        for _ in 0..<Int.random(in: 0...2, using: &random) { parts.append(leaf(for: identity)) }
        var members: JSON.Object = ["conditions": .array(parts.shuffled(using: &random))]
        if chance(30) { members = chance(2) ? [:] : ["conditions": []] }
        return .object(
            JSON.Object([(chance(2) ? "orCondition" : "andCondition", .object(members))]))
    }

    private mutating func leaf(for identity: String) -> JSON.Value {
        switch Int.random(in: 0..<40, using: &random) {
        case 0: Self.empty("true")
        case 1: Self.empty("false")
        case 2:
            pick([
                .object([:]), Self.empty("dateTime"), Self.empty("percent"),
                Self.empty("customSignal"),
            ])
        case 3..<12: percent(for: identity)
        default: customSignal()
        }
    }

    private static func empty(_ kind: String) -> JSON.Value {
        .object(JSON.Object([(kind, .object([:]))]))
    }

    private mutating func percent(for identity: String) -> JSON.Value {
        var members = JSON.Object()
        let seed = pick(["", "1", "hêl£o", "řemøťe", word()])
        if !seed.isEmpty || chance(2) { members["seed"] = .string(seed) }
        if !chance(20) {
            let words = ["LESS_OR_EQUAL", "GREATER_THAN", "BETWEEN"]
            members["percentOperator"] = .string(chance(20) ? "UNKNOWN" : pick(words))
        }
        // Half of the limits lie at the place of the host, or next to it.
        let place = Percent(seed: seed, bounds: .upTo(0)).place(
            of: identity, digest: SHA256.digest(of:))
        if !chance(10) { members["microPercent"] = limit(near: place) }
        if !chance(10) {
            var range = JSON.Object()
            if !chance(10) { range["microPercentLowerBound"] = limit(near: place) }
            if !chance(10) { range["microPercentUpperBound"] = limit(near: place) }
            members["microPercentRange"] = .object(range)
        }
        return .object(["percent": .object(members)])
    }

    private mutating func limit(near place: Int64) -> JSON.Value {
        let limit =
            chance(2)
            ? place + Int64.random(in: -1...1, using: &random)
            : Int64.random(in: 0...100_000_000, using: &random)
        return .number(Number(max(0, limit)))
    }

    private mutating func customSignal() -> JSON.Value {
        let families = [
            ("STRING_", ["CONTAINS", "DOES_NOT_CONTAIN", "EXACTLY_MATCHES", "CONTAINS_REGEX"]),
            ("NUMERIC_", Self.relations), ("SEMANTIC_VERSION_", Self.relations),
        ]
        let (family, words) = pick(families)
        let word = family + pick(words)
        // Often the target is a signal of the host, because random targets are hardly ever equal.
        let fitting = texts.filter { (_, text) in
            switch family {
            case "NUMERIC_": Self.numbers.contains(text)
            case "SEMANTIC_VERSION_": Self.versions.contains(text)
            default: Self.texts.contains(text)
            }
        }
        let like = fitting.isEmpty || chance(6) ? nil : pick(fitting)
        let targets = (0..<Int.random(in: 1...3, using: &random)).map { _ -> JSON.Value in
            switch family {
            case _ where like != nil && word != "STRING_CONTAINS_REGEX" && chance(3):
                .string(like?.text ?? "")
            case "NUMERIC_": .string(pick(Self.numbers))
            case "SEMANTIC_VERSION_": .string(pick(Self.versions))
            default:
                .string(word == "STRING_CONTAINS_REGEX" ? pick(Self.patterns) : pick(Self.parts))
            }
        }
        var members = JSON.Object()
        if !chance(40) {
            members["customSignalOperator"] = .string(chance(40) ? "STRING_STARTS_WITH" : word)
        }
        if !chance(40) { members["customSignalKey"] = .string(like?.key ?? pick(Self.signalKeys)) }
        if !chance(40) { members["targetCustomSignalValues"] = .array(chance(40) ? [] : targets) }
        return .object(["customSignal": .object(members)])
    }

    private static let relations = [
        "LESS_THAN", "LESS_EQUAL", "EQUAL", "NOT_EQUAL", "GREATER_THAN", "GREATER_EQUAL",
    ]

    // MARK: - Words

    private static let texts = [
        "gold", "golden", "Gold", " gold", "größe", "GRÖSSE", "日本語", "日本", "😀", "a b", "e\u{301}",
        "\u{E9}", "\u{3000}gold\u{A0}", "host.example.com", "12\n13", "K", "\u{212A}", "\0x",
    ]
    private static let numbers = [
        "12", " 12 ", "12.0", "13", "-7", "+7", "1e3", "1000", "2.5", ".5", "5.", "-0.25",
        "Infinity", "-Infinity", "9007199254740993", "1.5.2", "gold", "1e400", "\u{A0}12",
    ]
    private static let versions = [
        "1", "1.2", "1.2.0", "1.2.3", "1.10", "1.9", " 1 . 2", "+1.2", "2", "2.5", "12", "12.1.3",
        "1.2.3.4.5", "1.2.3.4.6", "0.0.1", "1.2.0-rc1", "latest", "01.02",
    ]
    private static let parts =
        texts + ["", "old", "ö", "ß", "e", "1", "2", ".", "\u{301}", "日", "\n"]
    private static let patterns = [
        "gold", "^gold$", "g.l", "[0-9]+", "^[a-z]+$", "日", "(old|en)+$", "^$", "a b", "ö",
        "\\.example\\.", "^1\\.2", "o{1,2}", "^[^a-z]*$", "x*", "e.?$",
    ]

    /// A signal, and the signal as JSON. It is neither empty nor zero.
    private mutating func signal() -> (SignalValue, JSON.Value) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let number = pick([1, 2, 5, 12, 13, -7, 1000, 1_234_567] as [Int64])
            return (.integer(number), .number(Number(number)))
        case 1:
            let number = pick([2.5, 12.5, -0.25, 1.2, 0.0001])
            return (.number(number), Number(number).map(JSON.Value.number) ?? .null)
        default:
            let text = pick(chance(3) ? Self.texts : chance(2) ? Self.numbers : Self.versions)
            return (.text(text), .string(text))
        }
    }

    private mutating func word() -> String {
        String((0..<4).map { _ in pick(["a", "z", "ü", "5", "日"]) }.joined())
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(random.next() % UInt64(elements.count))]
    }

    private mutating func chance(_ count: UInt64) -> Bool { random.next() % count == 0 }
}
