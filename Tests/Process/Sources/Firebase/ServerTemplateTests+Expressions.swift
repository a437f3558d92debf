import JSON
import Support
import Testing

/// Conditions with regular expressions, by RE2.
extension ServerTemplateTests {
    /// An expression, and its result for the signal `release-4.2 GOLD`.
    private struct Expression {
        let name: String
        let pattern: String
        var isFound = false
        /// The error of RE2 for an invalid expression.
        var problem: String?
    }

    private static let expressions = [
        Expression(name: "inside", pattern: "ease-[0-9]+", isFound: true),
        Expression(name: "whole", pattern: "^release-4\\.2 GOLD$", isFound: true),
        Expression(name: "anchored", pattern: "^4"),
        Expression(name: "other_case", pattern: "gold"),
        Expression(name: "any_case", pattern: "(?i)gold", isFound: true),
        Expression(name: "class", pattern: "\\p{Lu}{4}", isFound: true),
        Expression(name: "slow_elsewhere", pattern: "(e*)*(e*)*(e*)*x"),
        Expression(name: "look_ahead", pattern: "(?=gold)", problem: "invalid perl operator: (?="),
        Expression(name: "open", pattern: "(gold", problem: "missing ): (gold"),
    ]

    @Test func conditionsWithRegularExpressionsAreSearchedFor() async throws {
        let names = Self.expressions.map(\.name)
        let (server, daemon) = try await scene(
            source: #"signals = { label = "release-4.2 GOLD" }"#,
            service: Daemon.serviceEnd + "\n[service.shop.values]\n"
                + names.map { "\($0) = { type = \"string\", default = \"?\" }\n" }.joined())
        var parameters: JSON.Object = ["service_end": "over"]
        var conditions: [JSON.Value] = []
        var conditional = JSON.Object()
        for expression in Self.expressions {
            parameters[expression.name] = "not found"
            conditional[expression.name] = .object(
                JSON.Object([(expression.name, .object(["value": "found"]))]))
            conditions.append([
                "name": .string(expression.name),
                "condition": .signal(
                    "label", "STRING_CONTAINS_REGEX", [.string(expression.pattern)]),
            ])
        }
        try server.publish(
            server: parameters, version: 2, conditions: .array(conditions),
            conditional: conditional)
        try await daemon.start(awaiting: "ended")
        let text = try #require(try daemon.member("values"))
        let values = try #require(try JSON.Value.parse(text).object)
        for expression in Self.expressions {
            #expect(
                values[expression.name]?.string == (expression.isFound ? "found" : "not found"),
                "\(expression.name)")
            if let problem = expression.problem {
                #expect(
                    try daemon.lines(with: "condition '\(expression.name)' counts as false")
                        .contains { $0.contains(problem) }, "\(problem)")
            }
        }
    }
}
