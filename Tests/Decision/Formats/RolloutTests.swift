import CivilTime
import Decision
import JSON
import Support
import Testing

/// A rollout as it is read, and the slots of many hosts.
@Suite struct RolloutTests {
    private static let begin = "2027-03-01T12:00:00Z"

    private func read(_ rollout: String, seed: String = "null") throws -> Rollout? {
        let order = #"{"state":"maintenance","rollout":\#(rollout),"seed":\#(seed)}"#
        let flags = try FlagDocument.parse(Array(order.utf8))
        return try Format.switchObject(.whole).read(flags, in: .utc).rollout
    }

    // MARK: - Reading

    @Test func aShareIsThatOfTheLastStepThatHasCome() throws {
        let rollout = try #require(
            try read(
                #"""
                [{"at":"2027-03-01T12:00:00Z","percent":0.07},{"at":"2027-03-01T14:00:00+01:00","percent":1}]
                """#))
        let noon = try Instant(rfc3339: Self.begin)
        #expect(rollout.reach(at: noon + .seconds(-1)) == 0)
        #expect(rollout.reach(at: noon) == 700)
        #expect(rollout.reach(at: noon + .seconds(3599)) == 700)
        #expect(rollout.reach(at: noon + .seconds(3600)) == 10_000)
        #expect(rollout.arrival(at: try #require(Slot(699))) == noon)
        #expect(rollout.arrival(at: try #require(Slot(700))) == noon + .seconds(3600))
        #expect(rollout.arrival(at: try #require(Slot(10_000))) == nil)
        #expect(rollout.steps.map { Rollout.share($0.reach) } == ["0.07 %", "1 %"])
    }

    @Test func withoutStepsAnOrderReachesEveryHost() throws {
        #expect(try read("null") == nil)
    }

    @Test(arguments: [
        ("[]", "key 'rollout' is an empty array, not a list of steps"),
        ("{}", "key 'rollout' is an object, not an array or null"),
        ("[1]", "key 'rollout[0]' is a number, not an object"),
        (#"[{"percent":1}]"#, "key 'rollout[0].at' is missing"),
        (#"[{"at":"2027-03-01T12:00:00Z"}]"#, "key 'rollout[0].percent' is missing"),
        (#"[{"at":"noon","percent":1}]"#, "key 'rollout[0].at' is 'noon', not an RFC 3339 time"),
        (
            #"[{"at":"2027-03-01T12:00:00Z","percent":100.1}]"#,
            "key 'rollout[0].percent' is the number '100.1', not a number from 0 to 100"
        ),
        (
            #"[{"at":"2027-03-01T12:00:00Z","percent":-1}]"#,
            "key 'rollout[0].percent' is the number '-1', not a number from 0 to 100"
        ),
        (
            #"[{"at":"2027-03-01T12:00:00Z","percent":"1"}]"#,
            "key 'rollout[0].percent' is a string, not a number from 0 to 100"
        ),
        (
            #"[{"at":"2027-03-01T12:00:00Z","percent":1},{"at":"2027-03-01T12:00:00Z","percent":2}]"#,
            "key 'rollout[1].at' must be later than in the step before"
        ),
        (
            #"[{"at":"2027-03-01T12:00:00Z","percent":2},{"at":"2027-03-01T13:00:00Z","percent":1}]"#,
            "key 'rollout[1].percent' must not be lower than in the step before: a rollout does not reopen hosts"
        ),
    ])
    func whatIsNoRolloutIsNoOrder(_ rollout: String, _ problem: String) throws {
        let error = #expect(throws: InvalidFlag.self) { try read(rollout) }
        #expect(error?.description == problem)
    }

    @Test func moreThan64StepsAreNoOrder() throws {
        let begin = try Instant(rfc3339: Self.begin)
        let steps = (0...64).map {
            let time = Zone.utc.rfc3339(begin + .seconds(60 * $0))
            return #"{"at":"\#(time)","percent":\#($0)}"#
        }
        let error = #expect(throws: InvalidFlag.self) {
            try read("[\(steps.joined(separator: ","))]")
        }
        #expect(error?.description == "key 'rollout' has 65 steps, and at most 64 are read")
        #expect(try read("[\(steps.dropLast().joined(separator: ","))]")?.steps.count == 64)
    }

    @Test func aLongSeedIsNoOrder() throws {
        let step = #"[{"at":"2027-03-01T12:00:00Z","percent":1}]"#
        let error = #expect(throws: InvalidFlag.self) {
            try read(step, seed: #""\#(String(repeating: "a", count: 10_240))""#)
        }
        #expect(
            error?.description == "key 'seed' is a string of 10240 bytes, not at most 256 bytes")
        let longest = String(repeating: "a", count: 256)
        #expect(try read(step, seed: #""\#(longest)""#)?.seed == longest)
    }

    // MARK: - Slots

    /// The vector of the paper, appendix A.
    @Test func theHashIsSipHash() {
        #expect(SipHash.hash(Array(0...14)) == 0xA129_CA61_49BE_45E5)
    }

    private static func slots(seed: String) -> [Int] {
        (0..<100_000).map { host in
            let id = String(host, radix: 16)
            return Slot(of: String(repeating: "0", count: 32 - id.count) + id, seed: seed).number
        }
    }

    @Test func aPercentOfAHundredThousandHostsIsAThousandOfThem() {
        let slots = Self.slots(seed: "shop/app")
        for percent in [1, 2, 5, 10, 50, 99] {
            let expected = percent * 1000
            let reached = slots.count { $0 < percent * 10_000 }
            #expect(abs(reached - expected) <= max(100, expected / 50), "\(percent) %: \(reached)")
        }
    }

    @Test(arguments: [
        ("0%-100%", 0, 1_000_000, "0%-100%"), ("50%-100%", 500_000, 1_000_000, "50%-100%"),
        ("0%-0.0001%", 0, 1, "0%-0.0001%"),
        ("012.50%-99.9999%", 125_000, 999_999, "12.5%-99.9999%"),
    ])
    func aPartOfTheSlotsIsTwoPercentages(
        _ text: String, _ lower: Int, _ upper: Int, _ written: String
    ) throws {
        let part = try #require(SlotRange(text))
        #expect(part.lower == lower && part.upper == upper && part.text == written)
    }

    @Test(arguments: [
        "", "-", "50%", "50%-", "-50%", "50-100", "50%-100", "100%-50%", "50%-50%", "0%-100.1%",
        "0%-101%", "0%-1000%", "-1%-5%", "+1%-5%", "0%-1e1%", "0%-5.%", "0%-.5%", "0%-0.00001%",
        "0%-1.2.3%", "0 %-1 %", "0%–100%", "٠%-١%", "0%-5%-9%",
        "0%-" + String(repeating: "9", count: 100_000) + "%",
    ])
    func whatIsNoPartIsRefused(_ text: String) { #expect(SlotRange(text) == nil) }

    /// Canaries are before all others and tills after them, uniformly within their part.
    @Test func aHostWithAPartIsInItsPartOfEveryOrder() throws {
        let begin = try Instant(rfc3339: Self.begin)
        let rollout = Rollout(
            steps: [10_000, 500_000, 1_000_000].enumerated().map {
                Rollout.Step(at: begin + .seconds(3600 * $0), reach: $1)
            })
        for (text, shares) in [
            ("0%-1%", [1.0, 1, 1]), ("50%-100%", [0, 0, 1]), ("0%-2%", [0.5, 1, 1]),
        ] {
            let part = try #require(SlotRange(text))
            let slots = (0..<10_000).map {
                rollout.slot(
                    of: .named("host-\($0)", within: part), service: "shop", source: "app")
            }
            for (step, share) in zip(rollout.steps, shares) {
                let closed = slots.count { $0.number < step.reach }
                #expect(abs(Double(closed) / 10_000 - share) < 0.03, "\(text): \(closed)")
                #expect(part.share(within: step.reach) == share)
            }
        }
        let till = try #require(SlotRange("50%-100%"))
        #expect(rollout.arrivals(in: till).first == begin + .seconds(7200))
        #expect(rollout.arrivals(in: till).last == begin + .seconds(7200))
        let all = rollout.arrivals(in: .all)
        #expect(all.first == begin && all.last == begin + .seconds(7200))
        let half = Rollout(steps: Array(rollout.steps.prefix(2)))
        #expect(half.arrivals(in: till).first == nil && half.arrivals(in: .all).last == nil)
    }

    /// By the decision itself, at three times.
    @Test func aHundredThousandHostsObeyInTheirTurnAndStayInIt() throws {
        let begin = try Instant(rfc3339: Self.begin)
        let shares = [10_000, 100_000, 500_000]
        let rollout = Rollout(
            steps: shares.enumerated().map {
                Rollout.Step(at: begin + .seconds(3600 * $0), reach: $1)
            })
        let service = try service(format: .switchObject(.whole))
        var evidence = Evidence(
            source: "app", reading: Reading(claims: [.maintenance], rollout: rollout))
        evidence.isAnswered = true
        var closed = [0, 0, 0]
        var left = 0
        for host in 0..<100_000 {
            var wasClosed = false
            for hour in 0..<3 {
                var circumstances = Circumstances(
                    time: begin + .seconds(3600 * hour), isSameBoot: true)
                circumstances.place = .named("host-\(host)")
                let isClosed = service.decide([evidence], in: circumstances).gate == .closed
                if isClosed { closed[hour] += 1 }
                if wasClosed, !isClosed { left += 1 }
                wasClosed = isClosed
            }
        }
        #expect(left == 0)
        #expect((900...1100).contains(closed[0]), "\(closed)")
        #expect((9_800...10_200).contains(closed[1]), "\(closed)")
        #expect((49_500...50_500).contains(closed[2]), "\(closed)")
    }

    @Test func twoOrdersReachTheHostsInUnrelatedSequences() {
        let (one, other) = (Self.slots(seed: "shop/app"), Self.slots(seed: "shop/app2"))
        let mean = { (values: [Int]) in Double(values.reduce(0, +)) / Double(values.count) }
        let (left, right) = (mean(one), mean(other))
        var (product, ofOne, ofOther) = (0.0, 0.0, 0.0)
        for (slot, second) in zip(one, other) {
            let (x, y) = (Double(slot) - left, Double(second) - right)
            product += x * y
            ofOne += x * x
            ofOther += y * y
        }
        let correlation = product / (ofOne * ofOther).squareRoot()
        #expect(abs(correlation) < 0.015, "\(correlation)")
    }
}
