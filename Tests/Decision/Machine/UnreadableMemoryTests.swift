import CivilTime
import Decision
import Support
import Testing

/// Stored files that cannot be read are not absent: what they may say is kept until they can be read, or an operator
/// gives an order.
@Suite struct UnreadableMemoryTests {
    static let cause = "read '/var/lib/killswitchd/overrides.json': permission denied"

    /// What an earlier run has left whose flags say `body`, whose service is in this state.
    private func memory(
        _ body: String = ServiceEnd.no, state: State = .maintenance, boot: String = "this-boot",
        orderUntil: String? = "2027-03-01T13:00:00Z", unforced: Gate? = .open
    ) throws -> Memory {
        var memory = try Memory.stored(body, state: state, boot: boot)
        if let orderUntil {
            memory.ledger.value?.entries["shop"]?.order = .init(
                until: try Instant(rfc3339: orderUntil), unforced: unforced)
        }
        memory.overrides = .unreadable(Self.cause)
        return memory
    }

    private func play(_ memory: Memory, limit: Int? = nil) throws -> Transcript {
        var plan = Plan([try service(policy: Policy(minClosed: .zero))])
        plan.guardLimits.count = limit
        return try Transcript(plan: plan, memory: memory)
    }

    private func kinds(_ play: Transcript) -> [Finding.Kind] {
        play.machine.overview(at: play.now).findings.map(\.kind)
    }

    @Test(arguments: ["this-boot", "another-boot"])
    func theLedgerKeepsAnOrderThatCannotBeRead(_ boot: String) throws {
        var play = try play(memory(boot: boot))
        let effects = play.at(0, .started)
        #expect(play.states == [.maintenance])
        #expect(!effects.contains { if case .storeOverrides = $0 { true } else { false } })
        #expect(try play.states(at: 1, "app", answers: ServiceEnd.no) == [.maintenance])
        #expect(kinds(play) == [.unreadableRecord])
        // It ends in its time.
        #expect(play.states(at: 3600) == [.running])
    }

    /// Nothing knows what was ordered: the files of this boot decide, and after a reboot nothing opens.
    @Test(arguments: [true, false]) func whereNothingKnowsTheOrdersWhatIsClosedStaysClosed(
        _ isSameBoot: Bool
    ) throws {
        for gate in [State.running, .maintenance] {
            var memory = try memory()
            memory.ledger = .unreadable("read 'services.json': input/output error")
            if isSameBoot {
                memory.published = [
                    "shop": Ledger.Entry(
                        state: gate, since: Instant(seconds: 0), generation: 1, bootID: "this-boot")
                ]
            }
            var play = try play(memory)
            play.at(0, .started)
            try play.at(1, "app", answers: ServiceEnd.no)
            let stays: State = isSameBoot ? gate : .maintenance
            #expect(play.states(at: 7200) == [stays])
            #expect(kinds(play).filter { $0 == .unreadableRecord }.count == 2)
        }
    }

    /// An order of an operator takes force. The file is set aside, and what is known of the others is stored.
    @Test func anOrderHasTheFileSetAside() throws {
        let names = ["shop", "web"]
        var memory = try memory()
        let entry = memory.ledger.value?.entries["shop"]
        memory.ledger.value?.entries["web"] = entry
        var play = try Transcript(
            try names.map { try service($0, policy: Policy(minClosed: .zero)) }, memory: memory
        ).started()
        #expect(play.states == [.maintenance, .maintenance])
        let effects = play.at(1, .release("shop", by: "root", only: nil))
        let aside = try #require(effects.firstIndex(of: .setAside(.overrides)))
        let stored = effects.firstIndex { effect in
            if case .storeOverrides(let orders) = effect { return orders.map(\.key) == ["web"] }
            return false
        }
        #expect(try aside < #require(stored))
        #expect(play.states == [.running, .maintenance])
        #expect(kinds(play) == [])
    }

    /// What can be read again replaces what was kept.
    @Test func theFileIsReadAgainUntilItCanBe() throws {
        var play = try play(memory())
        play.at(0, .started)
        #expect(play.at(1, .woke).contains(.readAgain([.overrides])))
        #expect(play.at(2, .memoryRead(Memory(ledger: .none, overrides: .unreadable("x")))) == [])
        #expect(play.at(3, .woke).contains(.readAgain([.overrides])))
        let read = Memory(ledger: .none, overrides: .known([:]))
        play.at(3, .memoryRead(read))
        #expect(play.states == [.running] && kinds(play) == [])
    }

    /// The files were read before an order came: what they say of orders is old.
    @Test func whatWasReadBeforeAnOrderDoesNotEndIt() throws {
        var memory = try memory()
        var flags = Memory.StoredFlags(answers: [], confirmedAt: Instant(seconds: 0))
        flags.problem = "read 'flags/app.json': input/output error"
        memory.flags["app"] = flags
        var play = try play(memory)
        play.at(0, .started)
        play.at(1, .force("shop", try .order(.ended)))
        let readable = try Memory.stored(ServiceEnd.no, state: .running)
        var read = Memory(flags: readable.flags, ledger: .none, overrides: .known([:]))
        read.flags["app"]?.problem = nil
        #expect(play.states(at: 2, .memoryRead(read)) == [.ended])
        #expect(kinds(play) == [])
    }

    /// A closing that the host guard held goes through no sooner because the ledger cannot be read.
    @Test(arguments: [1, nil]) func whatWasHeldOpenStaysOpen(_ limit: Int?) throws {
        var memory = try Memory.stored(ServiceEnd.over, state: .running)
        memory.ledger = .unreadable("read 'services.json': input/output error")
        memory.published = [
            "shop": Ledger.Entry(
                state: .running, since: Instant(seconds: 0), generation: 3, bootID: "this-boot")
        ]
        var play = try play(memory, limit: limit)
        play.at(0, .started)
        try play.at(1, "app", answers: ServiceEnd.over)
        // Without a limit nothing can have held it.
        #expect(play.states == [limit == nil ? .ended : .running])
        #expect(play.states(at: 2, .confirm(["shop"], by: "root")) == [.ended])
    }

    /// An order may have held it open: that cannot be read either.
    @Test func whatAnOrderMayHaveOpenedStaysOpen() throws {
        var memory = try memory(ServiceEnd.over)
        memory.ledger = .unreadable("read 'services.json': input/output error")
        memory.published = [
            "shop": Ledger.Entry(
                state: .running, since: Instant(seconds: 0), generation: 3, bootID: "this-boot")
        ]
        var play = try play(memory)
        play.at(0, .started)
        #expect(try play.states(at: 1, "app", answers: ServiceEnd.over) == [.running])
        // What its flags close anew is closed.
        try play.at(2, "app", answers: ServiceEnd.no)
        #expect(try play.states(at: 3, "app", answers: ServiceEnd.over) == [.ended])
    }

    /// Flags that cannot be read may close the gate: it stays as it was, and after a reboot it is not opened.
    @Test(arguments: [
        ("this-boot", State.running, State.running), ("this-boot", .ended, .ended),
        ("another-boot", .running, .maintenance),
    ])
    func withoutItsFlagsAServiceStaysAsItWas(
        _ boot: String, _ before: State, _ expected: State
    ) throws {
        var memory = try Memory.stored(ServiceEnd.no, state: before, boot: boot)
        var flags = Memory.StoredFlags(answers: [], confirmedAt: Instant(seconds: 0))
        flags.problem = "read 'flags/app.json': input/output error"
        memory.flags["app"] = flags
        var play = try play(memory)
        play.at(0, .started)
        // Past `first_timeout`, and with another stored file deleted.
        #expect(play.states(at: 40) == [expected])
        let again = play.at(41, .stateDeleted)
        #expect(!again.contains { if case .storeFlags = $0 { true } else { false } })
        #expect(kinds(play).contains(.unreadableRecord))
        let effects = try play.at(50, "app", answers: ServiceEnd.no)
        #expect(effects.contains(.setAside(.flags("app"))))
        #expect(play.states == [.running] && kinds(play) == [])
    }

    // MARK: The end of an order

    /// A clock that runs ahead after a reboot ends no order that closes.
    @Test func anOrderThatClosesEndsByAConfirmedClock() throws {
        var memory = try Memory.stored(ServiceEnd.no, state: .maintenance, boot: "another-boot")
        memory.overrides = .known(["shop": try .order(.maintenance)])
        // Nine hours ahead, and no source has answered.
        var play = try Transcript(
            [try service(policy: Policy(minClosed: .zero))], memory: memory,
            start: "2027-03-01T21:30:00Z")
        play.isSynchronised = nil
        play.at(0, .started)
        #expect(play.states(at: 60) == [.maintenance])
        #expect(kinds(play).contains(.clock))
        // The server says what time it is.
        let date = play.now.wall - .seconds(9 * 3600)
        try play.at(61, "app", answers: ServiceEnd.no, date: date)
        #expect(play.states == [.maintenance])
        play.stepClock(62, by: .seconds(-9 * 3600))
        #expect(play.states == [.maintenance])
        play.isSynchronised = true
        #expect(play.states(at: 1860) == [.running])
    }

    // MARK: What follows an order

    /// A host that a step has reached stays in it behind an order, over a restart.
    @Test func aHostStaysInARolloutBehindAnOrder() throws {
        let step = #"""
            {"state":"maintenance","rollout":[{"at":"2027-03-01T11:00:00Z","percent":50}]}
            """#
        var memory = try Memory.stored(step, state: .running)
        memory.ledger.value?.entries["shop"]?.order = .init(
            until: try Instant(rfc3339: "2027-03-01T13:00:00Z"), unforced: .closed)
        memory.overrides = .known(["shop": try .order(.running)])
        var plan = Plan([try service(format: .switchObject(.whole))])
        plan.guards["shop"] = "errors"
        var play = try Transcript(
            plan: plan, memory: memory, place: .fixed(try #require(Slot(5))))
        #expect(play.states(at: 0, .started) == [.running])
        #expect(play.states(at: 3600) == [.maintenance])
    }

    /// After an order that closed, the flags open the gate at the host's turn, as always. A drill does not wait.
    @Test(arguments: [false, true]) func afterAnOrderTheGateOpensAtTheHostsTurn(
        _ isDrill: Bool
    ) throws {
        let policy = Policy(minClosed: .zero, openSpread: .seconds(1000))
        var play = try Transcript(
            [try service(policy: policy)], place: .fixed(try #require(Slot(250_000)))
        ).answered(ServiceEnd.no, at: 1)
        let order = try #require(
            Override(
                state: .maintenance, cause: "x", author: "root", since: play.now.wall,
                until: play.now.wall + .seconds(3600), isDrill: isDrill))
        play.at(2, .force("shop", order))
        #expect(
            play.states(at: 10, .release("shop", by: "root", only: nil))
                == [isDrill ? .running : .maintenance])
        #expect(play.states(at: 260) == [.running])
    }
}
