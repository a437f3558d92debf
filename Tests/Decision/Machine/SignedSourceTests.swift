import CivilTime
import Decision
import Support
import Testing

/// A source with signers over time: what it accepts, what it refuses, and what is left meanwhile.
@Suite struct SignedSourceTests {
    /// A signed answer at 12:00, whose flags are fresh until `expires` on the same day.
    private func signed(
        _ end: String, version: Int, expires: String = "13:00", audience: String = "prod",
        authors: [String] = ["alice"]
    ) throws -> Event {
        let body =
            #"{"service_end":"\#(end)","version":\#(version),"#
            + #""expires":"2027-03-01T\#(expires):00Z","audience":"\#(audience)"}"#
        var answer = try answer(body, fetchedAt: try Instant(rfc3339: "2027-03-01T12:00:00Z"))
        answer.signed = SignedAnswer(
            try SignedMetadata(answer.flags, digest: answer.body), by: authors)
        return .fetchEnded("app", .answer(answer), date: nil)
    }

    private func transcript(
        policy: Policy = Policy(), accepted: Stored<AcceptedVersion>? = nil
    ) throws -> Transcript {
        var plan = Plan([try service(policy: policy)])
        plan.sources[0].audience = "prod"
        var memory = Memory()
        if let accepted {
            memory.flags["app"] = Memory.StoredFlags(
                answers: [], confirmedAt: Instant(seconds: 0), accepted: accepted)
        }
        var play = try Transcript(plan: plan, memory: memory).started()
        play.forget()
        return play
    }

    /// A version that cannot be read is not the same as none: each old document would be accepted.
    @Test func whileTheVersionCannotBeReadNothingIsAccepted() throws {
        var play = try transcript(accepted: .unreadable("read 'app.version': input/output error"))
        #expect(try play.at(0, signed("yes", version: 7)).contains(.readVersion("app")))
        #expect(play.states == [.undecided])
        #expect(play.text.contains("refused, 'version-unreadable'"), "\(play.text)")
        let known = AcceptedVersion(number: 8, digest: [])
        play.at(0, .versionRead("app", .known(known)))
        #expect(try play.states(at: 1, accepting: signed("yes", version: 7)) == [.undecided])
        #expect(try play.states(at: 2, accepting: signed("yes", version: 9)) == [.ended])
    }

    // MARK: - Several people

    /// What closes later closes: nobody may get round the rule by an end that is near.
    @Test(arguments: [
        (#"{"state":"countdown","ends_at":"2027-03-01T12:30:00Z""#, "closed"),
        (
            #"{"state":"running","windows":[{"from":"2027-03-01T12:10:00Z","until":"2027-03-01T12:20:00Z"}]"#,
            "closed"
        ),
        (#"{"state":"running","minimum_version":"99""#, "closed"),
        (
            #"{"state":"maintenance","rollout":[{"at":"2027-03-01T12:30:00Z","percent":100}]"#,
            "closed"
        ),
    ])
    func anEndOrAWindowAheadNeedsTheSignaturesToClose(flags: String, gate: String) throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: Policy(signaturesToClose: 2)))
        let running = #"{"state":"running""#
        try play.accept(1, running, version: 1, by: ["alice"])
        #expect(play.states == [.running])
        try play.accept(2, flags, version: 2, by: ["alice"])
        #expect(try play.reason("shop") == .awaitingSignature)
        try play.accept(3, flags, version: 2, by: ["alice", "bob"])
        #expect(try play.reason("shop") != .awaitingSignature)
        // To take it back opens, for which one signature is enough here.
        try play.accept(4, running, version: 3, by: ["bob"])
        #expect(try play.reason("shop") == .flags)
    }

    // MARK: - Proof

    /// A signer who was removed never was one: the flags are stale, and not gone.
    @Test func unprovedFlagsAreStale() throws {
        var play = try transcript(policy: Policy(whenStale: .closed, minClosed: .zero))
        let event = try signed("no", version: 7)
        try play.accept(0, event)
        guard case .fetchEnded(_, .answer(let answer), _, _) = event,
            let mark = answer.signed?.identity
        else { throw InvalidFlag.missing(key: "signed") }
        play.at(1, .disproved("app", [mark: "no signer has the key"]))
        #expect(try play.reason("shop") == .unprovedClosed)
        #expect(play.text.contains("are no longer valid: no signer has the key"), "\(play.text)")
        play.at(2, .disproved("app", [:]))
        #expect(try play.reason("shop") == .flags)
        play.at(3, .disproved("app", [mark: "no signer has the key"]))
        try play.accept(4, try signed("no", version: 8, authors: ["bob"]))
        #expect(try play.reason("shop") == .flags)
        #expect(sourceAlarms(play) == [])
    }

    /// The warning stayed for ever once: only a change of the list took it back.
    @Test func theWarningOfUnprovedFlagsEndsWithThem() throws {
        var play = try transcript()
        try play.accept(0, try signed("no", version: 7))
        let mark = try #require(play.machine.answers(of: "app").first?.signed?.identity)
        let warning =
            "source 'app': the signatures of the flags in force are no longer valid: no signer has "
            + "the key"
        play.at(1, .disproved("app", [mark: "no signer has the key"]))
        #expect(sourceAlarms(play) == [warning])
        play.at(2, .forget("app", by: "alice"))
        #expect(sourceAlarms(play) == [])
        try play.accept(3, try signed("no", version: 7))
        play.at(4, .disproved("app", [mark: "no signer has the key"]))
        #expect(sourceAlarms(play) == [warning])
        var plan = play.machine.plan
        plan.sources[0].audience = nil
        play.at(5, .reconfigured(plan, replaced: ["app": .sameAddress]))
        #expect(sourceAlarms(play) == [])
    }

    private func sourceAlarms(_ play: Transcript) -> [String] {
        play.machine.overview(at: play.now, HostCondition()).findings.filter(\.isAlarm)
            .map(\.sentence).filter { $0.hasPrefix("source ") }
    }
}
