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

    @Test func theHighestVersionIsStoredBeforeItIsActedOn() throws {
        var play = try transcript()
        #expect(try play.states(at: 0, signed("yes", version: 7)) == [.undecided])
        play.expect(
            #"""
            0s app answers {"service_end":"yes","version":7,"expires":"2027-03-01T13:00:00Z","audience":"prod"}
                raise app to 7
            """#)
        let effects = play.at(0, .writeEnded(.storeVersion("app"), problem: nil))
        #expect(play.states == [.ended])
        #expect(
            effects.contains {
                if case .storeFlags = $0 { true } else { false }
            })
    }

    /// A power cut after a version that could not be stored would let the one before be shown again.
    @Test func aVersionThatCannotBeStoredCountsForNothing() throws {
        var play = try transcript()
        play.at(0, try signed("yes", version: 7))
        play.at(0, .writeEnded(.storeVersion("app"), problem: "no space left on device"))
        #expect(play.states == [.undecided])
        #expect(
            play.text.contains(
                "refused, 'version-not-stored': this host cannot store its version, and refuses it "
                    + "until then: no space left on device"), "\(play.text)")
        #expect(try play.states(at: 1, accepting: signed("yes", version: 7)) == [.ended])
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

    @Test func aRollbackChangesNothing() throws {
        var play = try transcript()
        try play.accept(0, try signed("yes", version: 8))
        play.forget()
        let effects = try play.accept(60, try signed("no", version: 7))
        #expect(play.states == [.ended])
        #expect(
            play.text.contains("its version 7 is lower than 8, which was accepted before"),
            "\(play.text)")
        for effect in effects {
            if case .storeVersion = effect { Issue.record("a lower version is stored") }
            if case .storeFlags = effect { Issue.record("refused flags are stored") }
        }
        #expect(try play.states(at: 120, accepting: signed("no", version: 9)) == [.running])
    }

    @Test func forgetDoesNotLowerTheVersion() throws {
        var play = try transcript()
        try play.accept(0, try signed("yes", version: 8))
        play.at(10, .forget("app", by: "alice"))
        #expect(try play.states(at: 11, accepting: signed("no", version: 7)) == [.ended])
        #expect(try play.states(at: 20, accepting: signed("no", version: 9)) == [.running])
    }

    @Test func aRestartKnowsTheVersionWithoutTheFlags() throws {
        var play = try transcript(accepted: .known(AcceptedVersion(number: 8, digest: [])))
        #expect(try play.states(at: 0, accepting: signed("yes", version: 7)) == [.undecided])
        #expect(try play.states(at: 1, accepting: signed("yes", version: 8)) == [.undecided])
        #expect(try play.states(at: 2, accepting: signed("yes", version: 9)) == [.ended])
    }

    @Test func aDocumentWithoutSignaturesOrForOthersIsRefused() throws {
        var play = try transcript().receiving(#"{"service_end":"yes"}"#, at: 0)
        try play.accept(1, try signed("yes", version: 7, audience: "stage"))
        try play.accept(2, try signed("yes", version: 7, expires: "11:59"))
        #expect(play.states == [.undecided])
        for clause in [
            "it is not signed", "it is for 'stage', this host is 'prod'",
            "it expired at 2027-03-01T11:59:00+00:00, before this host first saw it",
        ] {
            #expect(play.text.contains(clause), "\(play.text)")
        }
    }

    /// A freeze: the source shows the same document for ever.
    @Test func pastItsEndADocumentIsStaleAndNotEmpty() throws {
        var play = try transcript(policy: Policy(whenStale: .closed))
        try play.accept(0, try signed("no", version: 7))
        #expect(try play.states(at: 3599, accepting: signed("no", version: 7)) == [.running])
        #expect(play.states(at: 3600) == [.maintenance])
        #expect(play.text.contains("expired"), "\(play.text)")
        #expect(try play.states(at: 3660, accepting: signed("no", version: 7)) == [.maintenance])
        try play.accept(3720, try signed("no", version: 8, expires: "14:00"))
        #expect(play.states == [.running])
    }

    @Test func aSuccessorWithTheSameFlagsKeepsThemFresh() throws {
        var play = try transcript(policy: Policy(whenStale: .closed))
        try play.accept(0, try signed("no", version: 7))
        try play.accept(60, try signed("no", version: 8, expires: "14:00"))
        #expect(play.states(at: 3600) == [.running])
    }

    /// A second person signs the same document: its bytes are the same, and it is no other content.
    @Test func anotherSignatureForTheSameVersionIsTaken() throws {
        var play = try transcript()
        try play.accept(0, try signed("yes", version: 7))
        let effects = try play.accept(60, try signed("yes", version: 7, authors: ["alice", "bob"]))
        #expect(
            effects.contains {
                guard case .storeFlags(_, let answers) = $0 else { return false }
                return answers.first?.signed?.authors == ["alice", "bob"]
            })
    }

    @Test func aVersionHasOneContent() throws {
        var play = try transcript()
        try play.accept(0, try signed("yes", version: 7))
        #expect(try play.states(at: 60, accepting: signed("no", version: 7)) == [.ended])
        #expect(play.text.contains("its version 7 was accepted before with different content"))
    }

    // MARK: - Several people

    private let two = Policy(signaturesToClose: 1, signaturesToOpen: 2)

    @Test func oneSignatureClosesAndTwoReopen() throws {
        var play = try transcript(policy: two)
        try play.accept(0, try signed("no", version: 7, authors: ["alice", "bob"]))
        #expect(try play.states(at: 60, accepting: signed("yes", version: 8)) == [.ended])
        try play.accept(120, try signed("no", version: 9, authors: ["bob"]))
        #expect(play.states == [.ended])
        #expect(try play.reason("shop") == .awaitingSignature)
        #expect(
            play.text.contains(
                "source 'app' asks to open the gate; signed by 'bob'; one more signature is needed; "
                    + "the flags in force are signed by 'alice'"),
            "\(play.text)")
        try play.accept(180, try signed("no", version: 9, authors: ["bob", "alice"]))
        #expect(play.states == [.running])
        #expect(try play.reason("shop") == .flags)
    }

    /// One of two signers must not use up the versions of both.
    @Test func aDocumentThatLacksASignatureRaisesNoVersion() throws {
        var play = try transcript(policy: Policy(signaturesToClose: 2, signaturesToOpen: 2))
        try play.accept(0, try signed("no", version: 7, authors: ["alice", "bob"]))
        let effects = try play.accept(60, try signed("yes", version: 1_000_000))
        #expect(play.states == [.running])
        for case .storeVersion in effects { Issue.record("the version is stored") }
        try play.accept(120, try signed("yes", version: 8, authors: ["alice", "bob"]))
        #expect(play.states == [.ended])
    }

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
        play.machine.overview(at: play.now, HostCondition()).problems.filter(\.isAlarm)
            .map(\.sentence).filter { $0.hasPrefix("source ") }
    }

    /// The list of signers says who gives orders from now on. It is no order itself.
    @Test func flagsOfBeforeTheSourceHadSignersHoldUntilItAnswers() throws {
        var plan = Plan([try service(policy: Policy(whenStale: .closed))])
        var play = try Transcript(plan: plan).started().receiving(#"{"service_end":"no"}"#, at: 0)
        plan.sources[0].audience = "prod"
        play.at(1, .reconfigured(plan, replaced: ["app": .sameAddress]))
        #expect(play.states == [.running])
        #expect(try play.states(at: 2, accepting: signed("no", version: 1)) == [.running])
        #expect(try play.reason("shop") == .flags)
    }
}
