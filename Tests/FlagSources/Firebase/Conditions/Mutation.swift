import FlagSources
import Testing

/// A mistake of an evaluator, planted by a change of its input. The comparison has to find each.
struct Mutation: Sendable, CustomTestStringConvertible {
    let name: String
    /// Rewrites a condition, after its parts.
    var condition: @Sendable (Condition) -> Condition = { $0 }
    var tools: @Sendable (Tools) -> Tools = { $0 }

    var testDescription: String { name }

    func apply(to template: Template) -> Template {
        var mutant = template
        for index in mutant.conditions.indices {
            mutant.conditions[index].condition = apply(to: template.conditions[index].condition)
        }
        return mutant
    }

    private func apply(to whole: Condition) -> Condition {
        switch whole {
        case .or(let parts): condition(.or(parts.map(apply)))
        case .and(let parts): condition(.and(parts.map(apply)))
        case .constant, .percent, .customSignal, .unreadable: condition(whole)
        }
    }

    static func test(
        _ name: String,
        _ change: @escaping @Sendable (SignalTest.Comparison) -> SignalTest.Comparison
    ) -> Mutation {
        Mutation(name: name) { whole in
            guard case .customSignal(let test) = whole else { return whole }
            return .customSignal(SignalTest(key: test.key, comparison: change(test.comparison)))
        }
    }

    static func tools(
        _ name: String, _ change: @escaping @Sendable (inout Tools, _ real: Tools) -> Void
    ) -> Mutation {
        Mutation(
            name: name,
            tools: { real in
                var tools = real
                change(&tools, real)
                return tools
            })
    }

    static func percent(
        _ name: String, _ change: @escaping @Sendable (Percent) -> Percent
    ) -> Mutation {
        Mutation(name: name) { whole in
            guard case .percent(let percent) = whole else { return whole }
            return .percent(change(percent))
        }
    }
}

extension Mutation {
    static let all = structure + percents + texts + relations

    private static let structure = [
        Mutation(name: "or is and") { if case .or(let parts) = $0 { .and(parts) } else { $0 } },
        Mutation(name: "and is or") { if case .and(let parts) = $0 { .or(parts) } else { $0 } },
        Mutation(name: "or of nothing is true") {
            $0 == .or([]) ? .constant(true) : $0
        },
        Mutation(name: "and of nothing is false") {
            $0 == .and([]) ? .constant(false) : $0
        },
        Mutation(name: "true is false") { $0 == .constant(true) ? .constant(false) : $0 },
        Mutation(name: "false is true") { $0 == .constant(false) ? .constant(true) : $0 },
        Mutation(name: "unknown is true") {
            if case .unreadable = $0 { .constant(true) } else { $0 }
        },
        Mutation(name: "or counts once more") {
            if case .or = $0 { .or([$0]) } else { $0 }
        },
        Mutation(name: "and counts once less") {
            if case .and(let parts) = $0, parts.count == 1 { parts[0] } else { $0 }
        },
        tools("half of the digest") { tools, real in
            tools.digest = { Array(real.digest($0).prefix(16)) }
        },
        tools("the digest from behind") { tools, real in
            tools.digest = { real.digest($0).reversed() }
        },
        tools("expressions are anchored") { tools, real in
            tools.search = { real.search("^(?:\($0))", $1, &$2) }
        },
        tools("expressions ignore case") { tools, real in
            tools.search = { real.search("(?i)\($0)", $1, &$2) }
        },
    ]

    private static let percents = [
        bounds("LESS_OR_EQUAL is less") {
            if case .upTo(let limit) = $0 { .upTo(limit - 1) } else { $0 }
        },
        bounds("GREATER_THAN is greater or equal") {
            if case .above(let limit) = $0 { .above(limit - 1) } else { $0 }
        },
        bounds("BETWEEN takes its lower bound in") {
            if case .between(let lower, let upper) = $0 { .between(lower - 1, upper) } else { $0 }
        },
        bounds("BETWEEN leaves its upper bound out") {
            if case .between(let lower, let upper) = $0 { .between(lower, upper - 1) } else { $0 }
        },
        percent("the seed is ignored") { Percent(seed: "", bounds: $0.bounds) },
    ]

    private static func bounds(
        _ name: String, _ change: @escaping @Sendable (Percent.Bounds) -> Percent.Bounds
    ) -> Mutation {
        percent(name) { Percent(seed: $0.seed, bounds: change($0.bounds)) }
    }

    private static let texts = [
        test("STRING_CONTAINS is equality") {
            if case .containsAny(let targets) = $0 { .equalsAny(targets) } else { $0 }
        },
        test("STRING_CONTAINS takes the first target alone") {
            if case .containsAny(let targets) = $0 { .containsAny([targets[0]]) } else { $0 }
        },
        test("STRING_DOES_NOT_CONTAIN is satisfied by one target") {
            if case .containsNone(let targets) = $0 { .containsNone([targets[0]]) } else { $0 }
        },
        test("STRING_EXACTLY_MATCHES contains") {
            if case .equalsAny(let targets) = $0 { .containsAny(targets) } else { $0 }
        },
        test("STRING_EXACTLY_MATCHES keeps blanks") {
            guard case .equalsAny(let targets) = $0 else { return $0 }
            return .equalsAny(targets.filter { !$0.contains { $0.isWhitespace } })
        },
        test("STRING_CONTAINS_REGEX searches for the letters") {
            if case .matchesAny(let targets) = $0 { .containsAny(targets) } else { $0 }
        },
    ]

    /// Each relation replaced by its neighbour, for numbers and for versions; and versions compared as numbers.
    private static let relations =
        Relation.allCases.flatMap { relation in
            let wrong = relation.neighbour
            return [
                test("number: \(relation) is \(wrong)") {
                    if case .number(relation, let target) = $0 {
                        .number(wrong, target)
                    } else {
                        $0
                    }
                },
                test("version: \(relation) is \(wrong)") {
                    if case .version(relation, let target) = $0 {
                        .version(wrong, target)
                    } else {
                        $0
                    }
                },
                test("version: \(relation) compares numbers") {
                    if case .version(relation, let target) = $0 {
                        .number(relation, target)
                    } else {
                        $0
                    }
                },
            ]
        }
}

extension Relation {
    fileprivate var neighbour: Relation {
        switch self {
        case .less: .lessOrEqual
        case .lessOrEqual: .equal
        case .equal: .greaterOrEqual
        case .notEqual: .less
        case .greater: .greaterOrEqual
        case .greaterOrEqual: .greater
        }
    }
}
