import CivilTime
import Decision
import Testing

/// The number of people who have to sign, over restarts, reloads, stale flags and lists of signers that change.
@Suite struct SignaturesOverTimeTests {
    private static let open = #"{"state":"running""#
    private static let closed = #"{"state":"maintenance""#

    private let two = Policy(minClosed: .zero, signaturesToClose: 2, signaturesToOpen: 2)

    /// `shop` follows one signer, and `bank` two.
    private func plan(_ bank: Policy? = nil, activation: Activation = .immediate) throws -> Plan {
        var other = try service("bank", format: .switchObject(.whole), policy: bank ?? two)
        other.activation = activation
        let shop = try service(
            "shop", format: .switchObject(.whole), policy: Policy(minClosed: .zero))
        var plan = Plan([shop, other])
        plan.sources[0].audience = "prod"
        return plan
    }

    private func started(_ plan: Plan) throws -> Transcript {
        var play = try Transcript(plan: plan)
        play.at(0, .started)
        return play
    }

    /// The same host after a restart of the daemon at 12:10, before its source has answered.
    private func restarted(
        _ play: Transcript, _ plan: Plan, disproved: [[UInt8]: String] = [:],
        isReboot: Bool = false, isWaiting: Bool = false
    ) throws -> Transcript {
        var stored = Memory.StoredFlags(
            answers: play.machine.answers(of: try named("app")), confirmedAt: play.now.wall)
        stored.disproved = disproved
        var ledger = play.ledger
        if isReboot { for name in ledger.entries.keys { ledger.entries[name]?.bootID = "before" } }
        var next = try Transcript(
            plan: plan, memory: Memory(flags: [try named("app"): stored], ledger: ledger),
            start: "2027-03-01T12:10:00Z")
        next.at(0, .started)
        if !isWaiting { next.at(0, .waitEnded) }
        return next
    }

    private func reason(_ play: Transcript, _ name: String = "bank") throws -> Reason.Slug? {
        play.machine.record(of: try named(name))?.verdict.reason.slug
    }

    // MARK: - Restarts

    /// What one person has signed is stored, because another service follows it.
    @Test(arguments: [(open, closed, State.running), (closed, open, .maintenance)])
    func aRestartAcceptsNoOrderThatLacksASignature(
        before: String, lone: String, state: State
    ) throws {
        let plan = try plan()
        var play = try started(plan)
        try play.take(1, try signedOrder(before, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(lone, version: 2, by: ["alice"]))
        let states = play.states
        #expect(states[0] != states[1])
        #expect(states[1] == state)
        var next = try restarted(play, plan)
        #expect(next.states == states)
        #expect(try reason(next) == .storedFlags)
        try next.take(1, try signedOrder(lone, version: 2, by: ["alice"]))
        #expect(next.states == states)
        #expect(try reason(next) == .awaitingSignature)
        try next.take(2, try signedOrder(lone, version: 2, by: ["alice", "bob"]))
        #expect(next.states == [states[0], states[0]])
    }

    /// One person may sign a document that moves nothing. A restart does not ask for more.
    @Test func aRestartRestsOnWhatWasAccepted() throws {
        let plan = try plan()
        var play = try started(plan)
        try play.take(1, try signedOrder(Self.closed, version: 1, by: ["alice", "bob"]))
        try play.take(
            2, try signedOrder(Self.closed + #","title":"soon""#, version: 2, by: ["alice"]))
        #expect(play.machine.answers(of: try named("app")).count == 1)
        let next = try restarted(play, plan)
        #expect(next.states == [.maintenance, .maintenance])
        #expect(try reason(next) == .storedFlags)
    }

    /// A service that is new after a restart, or by a reload, accepts what it would accept from the source.
    @Test(arguments: [true, false])
    func aNewServiceAcceptsNoLoneOrderThatIsKnown(isReload: Bool) throws {
        let all = try plan()
        var few = all
        few.services = [few.services[0]]
        var play = try started(few)
        try play.take(1, try signedOrder(Self.closed, version: 1, by: ["alice"]))
        #expect(play.states == [.maintenance])
        if isReload {
            play.at(2, .reconfigured(all))
            play.at(40, .woke)
        } else {
            play = try restarted(play, all)
        }
        #expect(play.states == [.maintenance, .running])
        #expect(try reason(play) == .unknownOpen)
        try play.take(41, try signedOrder(Self.closed, version: 1, by: ["alice"]))
        #expect(play.states == [.maintenance, .running])
        #expect(try reason(play) == .awaitingSignature)
    }

    /// A reload stores what a service rests on: a restart after it asks for no more signatures.
    @Test func aServiceThatAReloadAddsKeepsItsFlagsOverARestart() throws {
        let all = try plan(Policy(whenUnknown: .closed, signaturesToOpen: 2))
        var few = all
        few.services = [few.services[0]]
        var play = try started(few)
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        play.at(2, .reconfigured(all))
        try play.take(2, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(
            3, try signedOrder(Self.open + #","title":"soon""#, version: 2, by: ["alice"]))
        #expect(play.states == [.running, .running])
        #expect(try restarted(play, all).states == [.running, .running])
    }

    /// A service whose configuration changes how it reads its flags rests on the same document.
    @Test func aReloadOfTheFormatAcceptsNoLoneOrder() throws {
        var plan = try plan()
        var play = try started(plan)
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(Self.closed, version: 2, by: ["alice"]))
        plan.services[1].zone = try zone("Asia/Tokyo")
        play.at(3, .reconfigured(plan))
        #expect(play.states == [.maintenance, .running])
        try play.take(4, try signedOrder(Self.closed, version: 2, by: ["alice"]))
        #expect(try reason(play) == .awaitingSignature)
    }

    /// A reload that changes nothing takes up nothing that was refused.
    @Test func aReloadTakesUpNoFlagsWhoseVersionWentBack() throws {
        var plan = try plan(Policy(minClosed: .zero))
        plan.services[1].switches[0].format = .switchObject(.member("bank"))
        let flags = { (state: String, version: Int) in
            Self.open + #","bank":{"state":"\#(state)","version":\#(version)}"#
        }
        var play = try started(plan)
        try play.take(1, try signedOrder(flags("running", 5), version: 1, by: ["alice"]))
        try play.take(2, try signedOrder(flags("maintenance", 4), version: 2, by: ["alice"]))
        #expect(play.states == [.running, .running])
        play.at(3, .reconfigured(plan))
        #expect(play.states == [.running, .running])
        #expect(try reason(play) == .invalidAnswer)
    }

    /// A service with two switches on one source: each rests on an answer of its own.
    @Test func eachSwitchRestsOnItsOwnAnswer() throws {
        var plan = try plan()
        let source: SourceName = try named("app")
        plan.services[1].switches = [
            Switch(source: source, format: .switchObject(.member("a"))),
            Switch(source: source, format: .switchObject(.member("b"))),
        ]
        let flags = { (a: String, b: String, more: String) in
            Self.open + #","a":{"state":"\#(a)"},"b":{"state":"\#(b)"}\#(more)"#
        }
        var play = try started(plan)
        let two = ["alice", "bob"]
        try play.take(1, try signedOrder(flags("running", "running", ""), version: 1, by: two))
        try play.take(2, try signedOrder(flags("maintenance", "shut", ""), version: 2, by: two))
        let lone = flags("maintenance", "shut", #","title":"soon""#)
        try play.take(3, try signedOrder(lone, version: 3, by: ["alice"]))
        #expect(play.states == [.running, .maintenance])
        #expect(try restarted(play, plan).states == [.running, .maintenance])
    }

    // MARK: - Staged flags

    /// One person must not take back a staged order of two, though nothing of it is in force yet.
    @Test func oneSignatureDoesNotTakeAStagedOrderBack() throws {
        let plan = try plan(activation: .nextStart)
        var play = try started(plan)
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(Self.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance, .running])
        try play.take(3, try signedOrder(Self.open, version: 3, by: ["alice"]))
        #expect(try reason(play) == .awaitingSignature)
        play.at(4, .activate(nil))
        #expect(play.states == [.running, .maintenance])
        // Nor does one who closes alone stage it.
        try play.take(5, try signedOrder(Self.open, version: 4, by: ["alice", "bob"]))
        play.at(6, .activate(nil))
        try play.take(7, try signedOrder(Self.closed, version: 5, by: ["alice"]))
        #expect(play.states == [.maintenance, .running])
        #expect(try restarted(play, plan).states == [.maintenance, .running])
    }

    @Test func stagedFlagsThatAreProvedNoMoreAreNotActivated() throws {
        let plan = try plan(activation: .nextStart)
        var play = try started(plan)
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(Self.closed, version: 2, by: ["alice", "bob"]))
        let staged = try #require(play.machine.answers(of: try named("app")).first?.signed)
        play.at(3, .disproved(try named("app"), [staged.mark: "no signer has the key"]))
        play.at(4, .activate(nil))
        #expect(play.states[1] == .running)
        #expect(try restarted(play, plan).states[1] == .running)
        play.at(5, .disproved(try named("app"), [:]))
        try play.take(6, try signedOrder(Self.closed, version: 2, by: ["alice", "bob"]))
        play.at(7, .activate(nil))
        #expect(play.states[1] == .maintenance)
    }

    /// The signer was removed while the daemon was down.
    @Test func stagedFlagsThatAreProvedNoMoreDoNotTakeForceAtAStart() throws {
        let plan = try plan(activation: .nextStart)
        var play = try started(plan)
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(Self.closed, version: 2, by: ["mallory", "bob"]))
        let staged = try #require(play.machine.answers(of: try named("app")).first?.signed)
        let next = try restarted(
            play, plan, disproved: [staged.mark: "no signer has the key"])
        #expect(next.states[1] == .running)
        #expect(try restarted(play, plan).states[1] == .maintenance)
    }

    // MARK: - Stale flags

    /// A document that becomes stale at once would move the gate by `when_stale`.
    @Test(arguments: [(open, Gate.closed), (closed, .open)])
    func aNearEndOfFreshnessIsAnOrder(flags: String, whenStale: Gate) throws {
        var policy = two
        policy.whenStale = whenStale == .open ? .open : .closed
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: policy))
        try play.take(1, try signedOrder(flags, version: 1, by: ["alice", "bob"]))
        let states = play.states
        let hasty = flags + #","expires":"2027-03-01T12:01:00Z""#
        try play.take(2, try signedOrder(hasty, version: 2, by: ["alice"], expires: nil))
        #expect(try reason(play, "shop") == .awaitingSignature)
        play.hang(until: 120)
        #expect(play.states == states)
        // A successor that is fresh for longer is none.
        try play.take(
            121,
            try signedOrder(flags, version: 3, by: ["alice"], expires: "2027-03-03T00:00:00Z"))
        #expect(try reason(play, "shop") == .flags)
    }

    /// While the flags in force are stale, `when_stale` has the gate. An order of one person must not stay
    /// when that ends.
    @Test(arguments: [(closed, open, Gate.open), (open, closed, .closed), (open, open, .closed)])
    func anOrderWhileFlagsAreStaleNeedsItsSignatures(
        flags: String, lone: String, whenStale: Gate
    ) throws {
        var policy = two
        policy.whenStale = whenStale == .open ? .open : .closed
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: policy))
        try play.take(
            1,
            try signedOrder(
                flags, version: 1, by: ["alice", "bob"], expires: "2027-03-01T12:10:00Z"))
        play.hang(until: 601)
        let gate = play.machine.record(of: try named("shop"))?.verdict.gate
        #expect(gate == whenStale)
        try play.take(601, try signedOrder(lone, version: 2, by: ["alice"]))
        #expect(play.machine.record(of: try named("shop"))?.verdict.gate == gate)
        let newest = play.machine.answers(of: try named("app")).first
        #expect(newest?.signed?.order.version == 1)
        try play.take(602, try signedOrder(lone, version: 2, by: ["alice", "bob"]))
        #expect(try reason(play, "shop") == .flags)
    }

    /// A reboot excuses stale flags until their source answers. One person must not use that.
    @Test(arguments: [(open, Gate.closed), (closed, .open)])
    func aRebootTakesBackNothingThatStaleFlagsHadMoved(flags: String, whenStale: Gate) throws {
        var policy = two
        policy.whenStale = whenStale == .open ? .open : .closed
        let plan = try plan(policy)
        var play = try started(plan)
        let end = "2027-03-01T12:05:00Z"
        try play.take(1, try signedOrder(flags, version: 1, by: ["alice", "bob"], expires: end))
        play.hang(until: 300)
        play.at(300, .woke)
        #expect(play.machine.record(of: try named("bank"))?.verdict.gate == whenStale)
        var next = try restarted(play, plan, isReboot: true, isWaiting: true)
        try next.take(1, try signedOrder(flags, version: 2, by: ["alice"]))
        next.hang(until: 31)
        next.at(31, .waitEnded)
        #expect(next.machine.record(of: try named("bank"))?.verdict.gate == whenStale)
        try next.take(61, try signedOrder(flags, version: 2, by: ["alice", "bob"]))
        #expect(try reason(next) == .flags)
    }

    /// A host that was off while its flags became stale takes the renewal of one person as others did in time.
    @Test func aRenewalThatCameWhileTheHostWasOffCounts() throws {
        var policy = two
        policy.whenStale = .closed
        let plan = try plan(policy)
        var play = try started(plan)
        let end = "2027-03-01T12:05:00Z"
        try play.take(
            1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"], expires: end))
        var next = try restarted(play, plan, isReboot: true, isWaiting: true)
        try next.take(1, try signedOrder(Self.open, version: 2, by: ["alice"]))
        #expect(try reason(next) == .flags)
        #expect(next.states == [.running, .running])
    }

    /// A server whose clock is far ahead says that a window is over which has not begun.
    @Test func theClockOfAServerHidesNoWindow() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: two))
        let later = try Instant(rfc3339: "2037-03-01T12:00:00Z")
        let far = "2047-03-01T12:00:00Z"
        try play.take(
            1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"], expires: far))
        let window =
            Self.open
            + #","windows":[{"from":"2027-03-01T13:00:00Z","until":"2027-03-01T14:00:00Z"}]"#
        let event = try signedOrder(window, version: 2, by: ["alice"], expires: far)
        guard case .fetched(let name, let outcome, _) = event else { return }
        for second in 2...5 {
            try play.take(Double(second), .fetched(name, outcome, date: later))
        }
        #expect(play.machine.answers(of: name).first?.signed?.order.version == 1)
    }

    /// A required version between those of both documents concerns a host that has neither.
    @Test func aHigherMinimumVersionCloses() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: two))
        play.at(0, .installed(try named("shop"), try #require(Version("3"))))
        let requiring = { (version: String) in Self.open + #","minimum_version":"\#(version)""# }
        try play.take(1, try signedOrder(requiring("1"), version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(requiring("2"), version: 2, by: ["alice"]))
        #expect(try reason(play, "shop") == .awaitingSignature)
    }

    /// Both calendars are joined: what a window of one covers by two windows of the other is the same.
    @Test func windowsAreComparedByWhatTheyCover() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: two))
        let calendar = { (windows: [(Int, Int)]) in
            let texts = windows.map {
                #"{"from":"2027-03-01T13:\#($0.0):00Z","until":"2027-03-01T13:\#($0.1):00Z"}"#
            }
            return Self.open + #","windows":[\#(texts.joined(separator: ","))]"#
        }
        try play.take(
            1, try signedOrder(calendar([(10, 20), (30, 40)]), version: 1, by: ["alice", "bob"]))
        let same = [(30, 35), (10, 15), (12, 20), (35, 40)]
        try play.take(2, try signedOrder(calendar(same), version: 2, by: ["alice"]))
        #expect(try reason(play, "shop") != .awaitingSignature)
        try play.take(
            3, try signedOrder(calendar([(10, 20), (30, 41)]), version: 3, by: ["alice"]))
        #expect(try reason(play, "shop") == .awaitingSignature)
        try play.take(
            4, try signedOrder(calendar([(10, 19), (30, 40)]), version: 4, by: ["alice"]))
        #expect(try reason(play, "shop") == .awaitingSignature)
    }

    /// So many windows cannot be compared in time: they need the signatures of each order.
    @Test func aHugeCalendarNeedsEachSignature() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: two))
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        let window = #"{"from":"2027-03-01T11:00:00Z","until":"2027-03-01T11:30:00Z"}"#
        for (count, reason) in [(400, Reason.Slug.flags), (600, .awaitingSignature)] {
            let windows = Array(repeating: window, count: count).joined(separator: ",")
            let flags = Self.open + #","windows":[\#(windows)]"#
            try play.take(2, try signedOrder(flags, version: Int64(count), by: ["alice"]))
            #expect(try self.reason(play, "shop") == reason)
        }
    }

    // MARK: - Versions and signatures

    /// One person must not end all orders by the last version of all.
    @Test func aVersionThatLeapsNeedsEachSignature() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole), policy: two))
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(Self.open, version: .max, by: ["alice"]))
        #expect(
            play.text.contains(
                "newer flags of source 'app' leave hardly a version to those after them: 'alice' signed "
                    + "them, and 2 people have to"), "\(play.text)")
        try play.take(3, try signedOrder(Self.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance])
        try play.take(4, try signedOrder(Self.open, version: .max, by: ["alice", "bob"]))
        #expect(play.states == [.running])
    }

    /// Who is removed from the list does not count for a service that has not accepted the order yet.
    @Test func aSignerWhoWasRemovedDoesNotConfirm() throws {
        var policy = two
        policy.confirmClose = 3
        var play = try started(try plan(policy))
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(2, try signedOrder(Self.closed, version: 2, by: ["alice", "mallory"]))
        #expect(play.states == [.maintenance, .running])
        for second in 3...6 {
            try play.take(
                Double(second), try signedOrder(Self.closed, version: 2, by: ["alice"]))
        }
        #expect(play.states == [.maintenance, .running])
        #expect(try reason(play) == .awaitingSignature)
    }

    /// A document that nobody can read must not use up the versions.
    @Test func aDocumentThatNobodyCanReadRaisesNoVersion() throws {
        var play = try started(try plan())
        try play.take(1, try signedOrder(Self.open, version: 1, by: ["alice", "bob"]))
        try play.take(
            2, try signedOrder(#"{"state":"shut""#, version: .max, by: ["alice", "bob"]))
        try play.take(3, try signedOrder(Self.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance, .maintenance])
    }

    /// Who serves a document can leave signatures out. The authors stay those who signed.
    @Test func fewerSignaturesOfTheSameDocumentAreNoNews() throws {
        var play = try started(try plan())
        try play.take(1, try signedOrder(Self.closed, version: 1, by: ["alice", "bob"]))
        let effects = try play.take(60, try signedOrder(Self.closed, version: 1, by: ["bob"]))
        for case .storeFlags in effects { Issue.record("stored again") }
        let record = play.machine.record(of: try named("bank"))
        #expect(record?.verdict.authors == ["alice", "bob"])
        #expect(play.states == [.maintenance, .maintenance])
    }

    /// A key is lost: its signer signs the same document with another one.
    @Test func theSameDocumentSignedAnewIsProved() throws {
        var play = try started(try plan())
        let before = try signedOrder(
            Self.closed, version: 1, by: ["alice", "bob"], signatures: "1")
        try play.take(1, before)
        let lost = try #require(play.machine.answers(of: try named("app")).first?.signed)
        play.at(2, .disproved(try named("app"), [lost.mark: "no signer has the key"]))
        #expect(try reason(play) == .unprovedHold)
        let effects = play.at(70, .woke)
        #expect(effects.contains(.fetch(try named("app"), Validators())))
        try play.take(
            71, try signedOrder(Self.closed, version: 1, by: ["alice", "bob"], signatures: "2"))
        #expect(try reason(play) == .flags)
    }

    /// An order to forget comes while the version of a document is being stored.
    @Test func forgetWhileAVersionIsStoredFetchesAgain() throws {
        var play = try started(try plan())
        play.at(1, try signedOrder(Self.closed, version: 1, by: ["alice", "bob"]))
        let effects = play.at(1, .forget(try named("app"), by: "alice"))
        #expect(effects.contains(.fetch(try named("app"), Validators())))
        play.at(1, .recorded(.storeVersion(try named("app")), problem: nil))
        try play.take(2, try signedOrder(Self.closed, version: 2, by: ["alice", "bob"]))
        #expect(play.states == [.maintenance, .maintenance])
    }
}
