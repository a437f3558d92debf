import FlagSources
import Signing
import Testing

/// The places of hosts in a percentage: the test vectors of the official clients.
struct PercentTests {
    /// The seed, the id and the place.
    static let vectors: [(String, String, Int64)] = [
        ("1", "one", 64_146_488),
        ("2", "two", 76_516_209),
        ("3", "three", 6_701_947),
        ("4", "four", 85_000_289),
        ("5", "five", 2_514_745),
        ("", "😊", 9_911_325),
        ("", "😀", 62_040_281),
        ("hêl£o", "wørlÐ", 67_411_682),
        ("řemøťe", "çōnfįġ", 19_728_496),
        ("long", String(repeating: ".", count: 100), 39_278_120),
        ("very-long", String(repeating: ".", count: 1000), 71_699_042),
        ("abcdef", "123", 9_571_542),
    ]

    @Test(arguments: vectors)
    func aHostStandsWhereTheOfficialClientsPutIt(seed: String, id: String, place: Int64) {
        let percent = Percent(seed: seed, bounds: .upTo(0))
        #expect(percent.place(of: id, digest: SHA256.digest(of:)) == place)
    }

    @Test(arguments: vectors)
    func aHostIsInsideItsOwnLimitAndOutsideTheOneBelow(seed: String, id: String, place: Int64) {
        let context = EvaluationContext(randomizationID: id)
        for (bounds, expected) in [
            (Percent.Bounds.upTo(place), true), (.upTo(place - 1), false),
            (.above(place), false), (.above(place - 1), true),
            (.between(place - 1, place), true),
            (.between(place, place + 1), false),
            (.between(0, 50_000_000), place <= 50_000_000),
        ] {
            var evaluator = Evaluator(context, .real)
            let condition = Condition.percent(Percent(seed: seed, bounds: bounds))
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
