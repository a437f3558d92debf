import CivilTime
import Decision
import Support
import Testing

/// What a wrong clock means for the ends, windows and `expires` of signed documents.
@Suite struct SignedClockTests {
    enum Subject: String, CaseIterable {
        case end, window, expires
    }

    /// Where the document is, and who lies about the time.
    enum Place: String, CaseIterable {
        /// The server of the documents.
        case http
        /// They send no `Date`. Another source of the host has a server that lies.
        case file, etcd
    }

    struct Attack: CustomTestStringConvertible {
        let subject: Subject
        let place: Place
        let signers: [String]
        let ahead: Duration

        var testDescription: String {
            "\(subject) in \(place), \(signers.count), \(ahead > .zero ? "ahead" : "behind")"
        }

        /// The server shows a wrong time.
        func lie(at seconds: Double, to play: inout Transcript) throws {
            let date = play.trueTime(at: seconds) + ahead
            let isOwn = place == .http
            play.at(seconds, .fetchEnded("app", .unchanged, date: isOwn ? date : nil))
            if isOwn { return }
            let running = try answer(#"{"service_end":"no"}"#, fetchedAt: play.now.wall)
            play.at(seconds, .fetchEnded("liar", .answer(running), date: date))
        }

        static let all = Subject.allCases.flatMap { subject in
            Place.allCases.flatMap { place in
                [["alice"], ["alice", "bob"]].flatMap { signers in
                    [Self.days(40), Self.days(-40)].map {
                        Attack(subject: subject, place: place, signers: signers, ahead: $0)
                    }
                }
            }
        }

        private static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
    }

    private static let far = "2047-03-01T12:00:00Z"
    /// Thirty days after the start of a transcript.
    private static let edge = "2027-03-31T12:00:00Z"
    private static let edgeSeconds = 30.0 * 86_400

    /// The document before something comes true at `edge`.
    private func document(_ subject: Subject, by signers: [String]) throws -> Event {
        switch subject {
        case .end:
            try signedOrder(
                #"{"state":"countdown","ends_at":"\#(Self.edge)""#, version: 1, by: signers,
                expires: Self.far)
        case .window:
            try signedOrder(
                Orders.open + #","windows":[{"from":"\#(Self.edge)","until":"\#(Self.far)"}]"#,
                version: 1, by: signers, expires: Self.far)
        case .expires: try signedOrder(Orders.open, version: 1, by: signers, expires: Self.edge)
        }
    }

    /// A `Date` 40 days ahead once ended a service, opened a window and made flags stale that were signed for
    /// 30 days. It moves nothing. It holds what comes by a clock that nobody synchronises, and the host says so.
    @Test(arguments: Attack.all) func noDateMovesWhatWasSigned(_ attack: Attack) throws {
        let count = attack.signers.count
        let policy = Policy(
            whenStale: .closed, minClosed: .zero, signaturesToClose: count, signaturesToOpen: count)
        var plan = Plan([
            try service(format: .switchObject(.whole), policy: policy),
            try service("other", sources: ["liar"]),
        ])
        plan.sources[0].audience = "prod"
        for isSynchronised in [true, false] {
            var play = try Transcript(plan: plan)
            play.isSynchronised = isSynchronised
            play.at(0, .started)
            try play.accept(1, document(attack.subject, by: attack.signers))
            let state = try #require(play.states.first)
            #expect(state == (attack.subject == .end ? .countdown : .running))
            for seconds in [2, 60, 86_400, Self.edgeSeconds - 30] {
                play.hang(until: seconds)
                try attack.lie(at: seconds, to: &play)
                #expect(play.states.first == state)
                let problems = play.machine.overview(at: play.now).findings
                #expect(problems.contains { $0.kind == .clock })
            }
            play.hang(until: Self.edgeSeconds)
            #expect(play.states.first == state)
            // It comes true on time, or once the server says nothing any more.
            let closed: State = attack.subject == .end ? .ended : .maintenance
            play.hang(until: Self.edgeSeconds + 1)
            #expect(play.states.first == (isSynchronised ? closed : state))
            play.hang(until: Self.edgeSeconds + 91)
            #expect(play.states.first == closed)
            // What has come stays, while the server goes on lying.
            try attack.lie(at: Self.edgeSeconds + 100, to: &play)
            #expect(play.states.first == closed)
        }
    }

    // MARK: - Clocks that are surely wrong

    /// A board without a battery boots in the past. Neither a `Date` nor a wait makes that the present time.
    @Test func aClockBeforeTheBuildHoldsWhatIsSigned() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole)), start: "2001-01-01T00:00:10Z")
        let event = try signedOrder(
            #"{"state":"countdown","ends_at":"\#(Self.edge)","windows":["#
                + #"{"from":"2001-01-01T00:00:00Z","until":"2001-01-02T00:00:00Z"}]"#,
            version: 1, by: ["alice"], expires: Self.far)
        guard case .fetchEnded(let name, let outcome, _, _) = event else { return }
        let date = try Instant(rfc3339: "2027-06-01T12:00:00Z")
        try play.accept(1, .fetchEnded(name, outcome, date: date))
        #expect(play.states == [.countdown])
        #expect(try play.reason("shop") == .clockNotBelieved)
        play.hang(until: 60)
        #expect(play.states(at: 60, .fetchEnded(name, .unchanged, date: date)) == [.countdown])
        #expect(try play.reason("shop") == .clockNotBelieved)
    }

    /// What had ended before the build of this program has ended, whatever the clock shows.
    @Test func anEndBeforeTheBuildHasPassed() throws {
        var play = try Transcript.signed(
            try service(format: .switchObject(.whole)), start: "1970-01-01T00:00:10Z")
        try play.accept(
            1, #"{"state":"countdown","ends_at":"2025-12-31T00:00:00Z""#, version: 1, by: ["alice"],
            expires: Self.far)
        #expect(play.states == [.ended])
        try play.accept(2, Orders.open, version: 2, by: ["alice"], expires: "2025-12-31T00:00:00Z")
        #expect(play.states == [.ended])
        #expect(play.text.contains("'expired-at-first-sight'"))
    }

    // MARK: - issued

    /// A countdown that ends, in a document that was issued at these times.
    private func issued(
        _ issued: String?, end: String, version: Int64 = 1, by signers: [String] = ["alice"],
        signatures: String = ""
    ) throws -> Event {
        try signedOrder(
            #"{"state":"countdown","ends_at":"\#(end)""#
                + (issued.map { #","issued":"\#($0)""# } ?? ""),
            version: version, by: signers, expires: Self.far, signatures: signatures)
    }

    private func started(_ policy: Policy = Policy(minClosed: .zero)) throws -> Transcript {
        try Transcript.signed(try service(format: .switchObject(.whole), policy: policy))
    }

    /// The clock of the host is two days late: the document shows that.
    @Test func anEarlierTimeThanThatOfIssueIsNotThePresent() throws {
        var play = try started()
        try play.accept(1, issued("2027-03-03T12:00:00Z", end: "2027-03-02T12:00:00Z"))
        #expect(play.states == [.ended])
        try play.accept(2, issued("2027-03-03T12:00:00Z", end: "2027-03-03T13:00:00Z", version: 2))
        #expect(play.states == [.countdown])
        #expect(try play.reason("shop") == .clockNotBelieved)
        #expect(
            play.text.contains(
                "source 'app': a document was issued 2 days ahead of the clock of this host; ends and "
                    + "windows are held until the clock of this host is right"))
        play.stepClock(100, by: .seconds(2 * 86_400))
        #expect(try play.reason("shop") == .flags)
        #expect(play.machine.overview(at: play.now).findings.isEmpty)
    }

    /// The clocks of signers and hosts differ by seconds.
    @Test func aDocumentFromTheNearFutureChangesNothing() throws {
        var play = try started()
        try play.accept(1, issued("2027-03-01T12:04:00Z", end: "2027-03-01T12:03:00Z"))
        #expect(play.states == [.countdown])
        #expect(try play.reason("shop") == .flags)
        #expect(play.states(hangingUntil: 181) == [.ended])
    }

    /// The clock of a signer is wrong: hosts that keep the time are not moved by it.
    @Test func aSynchronisedClockOutweighsTheTimeOfIssue() throws {
        var play = try started()
        play.isSynchronised = true
        try play.accept(1, issued("2027-03-03T12:00:00Z", end: "2027-03-02T12:00:00Z"))
        #expect(play.states == [.countdown])
        #expect(try play.reason("shop") == .flags)
        #expect(play.machine.isClockInQuestion)
        #expect(
            play.text.contains(
                "ahead of the clock of this host; the clock of this host counts, because it is synchronised"
            ))
        // The synchronisation is lost, and comes back.
        play.isSynchronised = false
        #expect(play.states(at: 2) == [.ended])
        play.isSynchronised = true
        #expect(play.states(at: 3) == [.countdown])
    }

    /// One of two signers must not choose the time.
    @Test func theTimeOfIssueTakesAllSignatures() throws {
        var play = try started(.twoSignatures)
        let end = "2027-03-02T12:00:00Z"
        try play.accept(1, issued(nil, end: end, by: ["alice", "bob"]))
        let late = "2027-04-01T12:00:00Z"
        try play.accept(2, issued(late, end: end, version: 2))
        #expect(play.machine.answers(of: "app").first?.signed?.order.version == 2)
        #expect(play.states == [.countdown])
        #expect(try play.reason("shop") == .flags)
        try play.accept(
            3, issued(late, end: end, version: 2, by: ["alice", "bob"], signatures: "2"))
        #expect(play.states == [.ended])
    }

    /// A later document without `issued`, by one of them, takes the time of issue not back; over a restart too.
    @Test func theTimeOfIssueStays() throws {
        var play = try started()
        let end = "2027-03-02T12:00:00Z"
        var stored: AcceptedVersion?
        for event in [
            try issued("2027-03-03T12:00:00Z", end: end), try issued(nil, end: end, version: 2),
            try issued("2027-03-02T11:00:00Z", end: end, version: 3),
        ] {
            for case .storeVersion(_, let version) in try play.accept(1, event) { stored = version }
            #expect(play.states == [.ended])
        }
        let app = "app" as SourceName
        let accepted = try #require(stored)
        #expect(accepted.number == 3)
        let memory = Memory(
            flags: [
                app: Memory.StoredFlags(
                    answers: play.machine.answers(of: app), confirmedAt: play.now.wall,
                    accepted: .known(accepted))
            ])
        var next = try Transcript(plan: play.machine.plan, memory: memory)
        next.isSynchronised = false
        #expect(next.states(at: 0, .started) == [.ended])
        // The way out, if the clock of the signer was wrong.
        next.at(1, .forget(app, by: "root", versionCause: "a wrong clock"))
        try next.accept(2, issued(nil, end: end, version: 4))
        #expect(next.states == [.countdown])
        #expect(try next.reason("shop") == .flags)
    }
}
