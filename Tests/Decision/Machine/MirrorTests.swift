import CivilTime
import Decision
import Support
import Testing

/// A signed document on several servers: whoever of them has the newest order is heard, whatever the others do.
@Suite struct MirrorTests {
    private static let down = Failure(.unreachable, "get: connection refused")

    @Test func eachIsAskedAtOnceAndThenOneAtEachPoll() throws {
        var world = try MirrorWorld([.version(2), .version(2), .version(2)])
        try world.run(5)
        #expect(world.asked.map(\.mirror).sorted() == [0, 1, 2])
        try world.run(360)
        let polls = world.asked.dropFirst(3)
        #expect((5...7).contains(polls.count), "\(polls)")
        // In turn, each with the ETag of its own answer.
        for (index, poll) in polls.enumerated() {
            #expect(poll.mirror == world.asked[index % 3].mirror)
            #expect(poll.etag == "\(poll.mirror)-2-1")
        }
        #expect(world.troubled == [])
        #expect(world.problems == [])
        let counted = try world.view.fetches.byResult.map(\.count).reduce(0, +)
        #expect(counted == world.asked.count)
    }

    /// The faults of one mirror.
    enum Fault: String, CaseIterable {
        case frozen, down, refusing, busy, silent, forged, foreign
    }

    private static func gift(_ fault: Fault) -> MirrorWorld.Gift {
        switch fault {
        case .frozen: .version(2)
        case .down: .failure(down)
        case .refusing: .failure(Failure(.refused, "get: the server answers 403 (forbidden)"))
        case .busy: .failure(Failure(.unreachable, "get: 503", retryAfter: .seconds(3600)))
        case .silent: .silence
        case .forged: .forged(4)
        case .foreign: .foreign(9)
        }
    }

    /// The promise: whatever ails all the others, an order on any one mirror is obeyed within as many intervals as
    /// there are mirrors. An interval has a jitter of 10 %.
    @Test(arguments: Fault.allCases, [2, 3, 5])
    func anOrderOnAnyMirrorTakesEffectInAsManyIntervals(_ fault: Fault, _ count: Int) throws {
        for good in 0..<count {
            for seed in UInt64(1)...4 {
                var world = try MirrorWorld(
                    Array(repeating: .version(4), count: count), seed: seed)
                try world.run(200)
                for mirror in 0..<count where mirror != good {
                    world.gifts[mirror] = Self.gift(fault)
                }
                try world.run(Int(seed) * 700)
                #expect(world.state == .running)
                world.gifts[good] = .version(5)
                try world.run(Int(Double(60 * count) * 1.1) + 1)
                #expect(world.state == .maintenance, "\(fault) \(good) \(seed)")
                // The order stays in force, whatever the others still give.
                try world.run(3600)
                #expect(world.state == .maintenance)
                #expect(try world.view.problem == nil, "no failure of the source")
                #expect(try world.view.isUp)
            }
        }
    }

    @Test func aMirrorThatIsBehindIsNamedAndIsNoFailure() throws {
        var world = try MirrorWorld([.version(5), .version(5)])
        try world.run(5)
        world.gifts[1] = .version(4)
        try world.run(150)
        let clause = "mirror 'https://1/x': it gives version 4, and version 5 was accepted"
        #expect(world.problems == ["source 'app': \(clause)"])
        #expect(world.troubled == [1])
        #expect(try world.view.problem == nil)
        #expect(world.state == .maintenance && world.reason == .flags)
        // Monitoring is told after three rounds.
        #expect(world.machine.overview(at: world.now).alarmCounts.isEmpty)
        try world.run(400)
        #expect(world.machine.overview(at: world.now).alarmCounts == [.mirror: 1])
        // Told once, also while it goes on.
        #expect(world.lines.filter { $0.contains("mirror") } == ["source 'app': \(clause)"])
        // Asked without a condition: a "not modified" would say nothing.
        #expect(world.asked.last { $0.mirror == 1 }?.etag == nil)
        world.gifts[1] = .version(5)
        try world.run(150)
        #expect(world.problems == [])
        #expect(world.troubled == [])
    }

    /// What one mirror alone confirms is confirmed, and what only old ones give is not.
    @Test func onlyTheNewestDocumentIsConfirmed() throws {
        var policy = Policy(minClosed: .zero)
        policy.maxStale = .seconds(600)
        policy.whenStale = .closed
        var world = try MirrorWorld([.version(4), .version(4)], policy: policy)
        try world.run(5)
        world.gifts[0] = .version(2)
        try world.run(3600)
        #expect(world.state == .running)
        world.gifts[1] = .version(2)
        try world.run(900)
        #expect(world.reason == .staleClosed)
        let problem = "no mirror gives the newest flags: mirror 'https://"
        #expect(try world.view.problem?.hasPrefix(problem) == true)
        #expect(world.lines.contains { $0.hasPrefix("source 'app': \(problem)") })
        world.gifts[0] = .version(4)
        // It backs off, up to five intervals.
        try world.run(700)
        #expect(world.state == .running)
        #expect(world.lines.contains { $0.hasPrefix("over: source 'app': \(problem)") })
    }

    @Test func aRetryAfterHoldsForOneMirrorAlone() throws {
        var world = try MirrorWorld([.version(4), .version(4), .version(4)])
        try world.run(5)
        world.gifts[2] = .failure(
            Failure(.unreachable, "get: the server answers 503", retryAfter: .seconds(1000)))
        try world.run(240)
        let before = world.asked.count
        try world.run(600)
        let polls = world.asked.dropFirst(before)
        #expect(!polls.contains { $0.mirror == 2 })
        #expect((9...11).contains(polls.count))
        try world.run(600)
        #expect(world.asked.dropFirst(before).contains { $0.mirror == 2 })
    }

    @Test func whereEachFailsTheSourceFailsAndBacksOff() throws {
        var world = try MirrorWorld([.version(4), .version(4)])
        try world.run(5)
        world.gifts = [.failure(Self.down), .failure(Self.down)]
        try world.run(3600)
        #expect(
            try world.view.problem?
                .hasPrefix("no mirror gives the newest flags: mirror 'https://") == true)
        #expect(try world.view.problem?.hasSuffix("get: connection refused") == true)
        #expect(world.troubled == [0, 1])
        // Up to five intervals apart, by full jitter.
        #expect((10...50).contains(world.asked.count), "\(world.asked.count)")
        #expect(world.state == .running)
        world.gifts[1] = .version(5)
        try world.run(700)
        #expect(world.state == .maintenance)
        #expect(try world.view.problem == nil)
    }

    @Test func whereEachAsksForTimeTheShortestTimeIsKept() throws {
        var world = try MirrorWorld([.version(4), .version(4)])
        try world.run(5)
        world.gifts = [3000, 1200].map {
            .failure(Failure(.unreachable, "get: 503", retryAfter: .seconds($0)))
        }
        try world.run(150)
        let before = world.asked.count
        try world.run(900)
        #expect(world.asked.count == before)
        try world.run(500)
        #expect(world.asked.count == before + 1)
        #expect(world.asked.last?.mirror == 1)
    }

    /// A host that starts with one mirror away does not wait an interval for the next.
    @Test func theFirstAnswerOfAnyMirrorDecides() throws {
        for good in 0..<3 {
            var gifts = Array(repeating: MirrorWorld.Gift.failure(Self.down), count: 3)
            gifts[good] = .version(5)
            var world = try MirrorWorld(gifts)
            try world.run(2)
            #expect(world.state == .maintenance)
        }
    }

    @Test func aRefreshAsksEachAtOnce() throws {
        var world = try MirrorWorld([.version(4), .version(4), .version(4)])
        try world.run(20)
        world.gifts[1] = .version(5)
        try world.handle(.hinted("app"))
        try world.run(2)
        #expect(world.state == .maintenance)
        #expect(world.asked.count == 6)
    }

    /// One mirror has the order of the first signer already, which the second has not signed. The others still confirm
    /// the flags in force, and the reason does not go to and fro at each poll.
    @Test func anOrderThatWaitsForSignaturesWaitsQuietly() throws {
        var policy = Policy(minClosed: .zero, signaturesToClose: 2)
        policy.maxStale = .seconds(600)
        policy.whenStale = .closed
        let both = MirrorWorld.Gift.signedBy(4, ["alice", "bob"])
        var world = try MirrorWorld([both, both, both], policy: policy)
        try world.run(5)
        world.gifts[2] = .signedBy(5, ["alice"])
        try world.run(200)
        #expect(world.reason == .awaitingSignature)
        let told = world.lines.count
        try world.run(7200)
        #expect(world.reason == .awaitingSignature && world.state == .running)
        #expect(world.lines.count == told, "\(world.lines)")
        world.gifts[1] = .signedBy(5, ["alice", "bob"])
        try world.run(200)
        #expect(world.state == .maintenance)
        // It is taken back where it stood.
        var other = try MirrorWorld([both, both, both], policy: policy)
        try other.run(5)
        other.gifts[2] = .signedBy(5, ["alice"])
        try other.run(200)
        other.gifts[2] = both
        try other.run(200)
        #expect(other.reason == .flags, "\(other.lines)")
    }

    @Test func anOperatorMayForgetTheVersion() throws {
        var world = try MirrorWorld([.version(9), .version(9)])
        try world.run(5)
        world.gifts = [.version(4), .version(4)]
        try world.run(300)
        #expect(world.state == .maintenance)
        try world.handle(.forget("app", by: "alice", versionCause: "lost the key"))
        try world.run(200)
        #expect(world.state == .running)
        #expect(world.troubled == [])
    }

    @Test func aReloadWithOtherMirrorsBeginsAnew() throws {
        var world = try MirrorWorld([.version(5), .version(4), .version(5)])
        try world.run(200)
        #expect(world.troubled == [1])
        world.gifts = [.version(5), .version(5)]
        try world.handle(
            .reconfigured(try MirrorWorld.plan(2), replaced: ["app": .otherAddress]))
        try world.run(5)
        #expect(world.troubled == [])
        #expect(world.problems == [])
        #expect(world.state == .maintenance)
    }

    /// The `Date` of whichever mirror has answered last is that of the source.
    @Test func aClockThatIsFarFromOursIsNamedWhileItIs() throws {
        var world = try MirrorWorld([.version(4), .version(4)])
        world.clocks = [0: .seconds(7200), 1: .seconds(7200)]
        try world.run(600)
        let warning = "source 'app': the server's clock is 2 hours ahead; "
        #expect(world.problems.filter { $0.hasPrefix(warning) }.count == 1)
        #expect(world.lines.filter { $0.hasPrefix(warning) }.count == 1)
        world.clocks = [0: .zero, 1: .zero]
        try world.run(400)
        #expect(!world.problems.contains { $0.contains("clock") }, "\(world.problems)")
        #expect(world.state == .running)
    }
}
