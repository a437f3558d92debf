import FlagSources
import Signing
import Testing

/// The places of hosts in a percentage: the test vectors of the official clients.
struct PercentTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let seed: String
        let id: String
        let place: Int64
        var testDescription: String { "\(seed).\(id)".prefix(20) + " is at \(place)" }
    }

    static let vectors = [
        Vector(seed: "1", id: "one", place: 64_146_488),
        Vector(seed: "2", id: "two", place: 76_516_209),
        Vector(seed: "3", id: "three", place: 6_701_947),
        Vector(seed: "4", id: "four", place: 85_000_289),
        Vector(seed: "5", id: "five", place: 2_514_745),
        Vector(seed: "", id: "😊", place: 9_911_325),
        Vector(seed: "", id: "😀", place: 62_040_281),
        Vector(seed: "hêl£o", id: "wørlÐ", place: 67_411_682),
        Vector(seed: "řemøťe", id: "çōnfįġ", place: 19_728_496),
        Vector(seed: "long", id: String(repeating: ".", count: 100), place: 39_278_120),
        Vector(seed: "very-long", id: String(repeating: ".", count: 1000), place: 71_699_042),
        Vector(seed: "abcdef", id: "123", place: 9_571_542),
    ]

    @Test(arguments: vectors)
    func aHostStandsWhereTheOfficialClientsPutIt(vector: Vector) {
        let percent = Percent(seed: vector.seed, bounds: .upTo(0))
        #expect(percent.place(of: vector.id, digest: SHA256.digest(of:)) == vector.place)
    }

    @Test(arguments: vectors)
    func aHostIsInsideItsOwnLimitAndOutsideTheOneBelow(vector: Vector) {
        let context = EvaluationContext(randomizationID: vector.id)
        for (bounds, expected) in [
            (Percent.Bounds.upTo(vector.place), true), (.upTo(vector.place - 1), false),
            (.above(vector.place), false), (.above(vector.place - 1), true),
            (.between(vector.place - 1, vector.place), true),
            (.between(vector.place, vector.place + 1), false),
            (.between(0, 50_000_000), vector.place <= 50_000_000),
        ] {
            var evaluator = Evaluator(context, .real)
            let condition = Condition.percent(Percent(seed: vector.seed, bounds: bounds))
            let isTrue = evaluator.isTrue(condition, named: "c")
            #expect(isTrue == expected, "\(bounds)")
        }
    }

    @Test func withoutAnIdentityNoPercentConditionIsTrue() {
        var evaluator = Evaluator(EvaluationContext(), .real)
        let condition = Condition.percent(Percent(seed: "", bounds: .above(-1)))
        let isTrue = evaluator.isTrue(condition, named: "canary")
        #expect(!isTrue)
        #expect(
            evaluator.warnings
                == ["condition 'canary' counts as false: no randomization id is known"])
    }
}
