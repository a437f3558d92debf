import Decision
import Fleet
import Testing

@Suite struct RollCallTests {
    private static func account(
        _ state: State = .maintenance, version: String? = "42",
        _ effect: HostAccount.Effect = .complete, reason: String = "flags", warning: String? = nil,
        obstacle: String? = nil
    ) -> HostAccount {
        let gate: Gate? =
            switch state {
            case .undecided: nil
            case .running, .countdown: .open
            case .maintenance, .updateRequired, .ended: .closed
            }
        return HostAccount(
            state: state, gate: gate, reason: reason, version: version, effect: effect,
            warning: warning, obstacle: obstacle)
    }

    private static func account(_ effect: HostAccount.Effect) -> HostAccount {
        account(.maintenance, effect)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let demand: Demand
        let account: HostAccount
        let expected: Obedience
    }

    private static let down = Demand(.effect(.closed))
    private static let old = "it is running by flags version '41'"
    private static let moveless = "killswitchd was started without --gates there, and moves no gate"

    private static let cases = [
        Case(testDescription: "down", demand: down, account: account(), expected: .obeyed),
        Case(
            testDescription: "not decided yet", demand: down,
            account: account(.running, version: "41"), expected: .late(old)),
        Case(
            testDescription: "waits for its step", demand: down,
            account: account(.running, reason: "rollout"),
            expected: .late("it is running by flags version '42' (rollout)")),
        Case(
            testDescription: "undecided", demand: down,
            account: account(.undecided, version: nil, .unknown("?"), reason: "starting"),
            expected: .late("it is undecided (starting)")),
        Case(
            testDescription: "units stop", demand: down, account: account(.ended, .underWay("up")),
            expected: .late("up")),
        Case(
            testDescription: "a unit does not stop", demand: down, account: account(.failed("up")),
            expected: .failed("up")),
        Case(
            testDescription: "no gates", demand: down, account: account(.withoutGates),
            expected: .failed(moveless)),
        Case(
            testDescription: "only observed", demand: down, account: account(.observed),
            expected: .failed("the service has 'enforce = false' there, and its gate is not moved")),
        Case(
            testDescription: "gate unknown", demand: down, account: account(.unknown("why")),
            expected: .unknown("why")),
        Case(
            testDescription: "held", demand: down,
            account: account(.running, version: "41", obstacle: "held"),
            expected: .failed("\(old): held")),
        Case(
            testDescription: "the decision alone", demand: Demand(.gate(.closed)),
            account: account(.failed("up")), expected: .obeyed),
        Case(
            testDescription: "another state", demand: Demand(.state(.ended)), account: account(),
            expected: .late("it is maintenance by flags version '42'")),
        Case(
            testDescription: "the state", demand: Demand(.state(.maintenance)),
            account: account(.withoutGates), expected: .obeyed),
        Case(
            testDescription: "a higher version is another one",
            demand: Demand(.effect(.closed), version: "41"), account: account(),
            expected: .late("it is maintenance by flags version '42', not by flags version '41'")),
        Case(
            testDescription: "an operator's order has no version",
            demand: Demand(.effect(.closed), version: "42"),
            account: account(version: nil, reason: "override"),
            expected: .late("it is maintenance (override), not by flags version '42'")),
        Case(
            testDescription: "the version", demand: Demand(.effect(.closed), version: "42"),
            account: account(), expected: .obeyed),
        Case(
            testDescription: "old flags, and down all the same", demand: down,
            account: account(warning: "old"), expected: .obeyed),
        Case(
            testDescription: "old flags, and not down", demand: down,
            account: account(.running, version: "41", warning: "its flags are old"),
            expected: .late("\(old), its flags are old")),
    ]

    @Test(arguments: cases) func obedienceIsAsDemanded(_ test: Case) {
        let call = RollCall([finding("a", test.account)], test.demand)
        #expect(call.rows.map(\.obedience) == [test.expected])
    }

    private func finding(_ name: String, _ account: HostAccount) -> HostFinding {
        HostFinding(FleetHost(id: "\(name):9100", name: name, aliases: [name]), .account(account))
    }

    private func words(_ call: RollCall) -> [String] {
        call.rows.map { "\($0.host.name) \($0.obedience.word)" }
    }

    /// Without a condition a host is measured by its own decision, and by those of the others.
    @Test func allHostsAreAlike() {
        let findings = [
            finding("a", Self.account()), finding("b", Self.account()),
            finding("c", Self.account(.running, version: "41")),
            finding("d", Self.account(warning: "its flags are old")),
            finding("e", Self.account(.underWay("its gate is not closed yet"))),
            finding("f", Self.account(.withoutGates)),
        ]
        let call = RollCall(findings, Demand(.own))
        #expect(
            words(call) == ["a obeyed", "b obeyed", "c late", "d late", "e late", "f obeyed"])
        #expect(
            call.rows[2].obedience.why
                == "it is running by flags version '41', and most hosts are maintenance by flags version '42'"
        )
        #expect(Quorum("50%")?.isReached(call) == true)
        #expect(Quorum("51%")?.isReached(call) == false)
    }

    @Test func halfIsNotMost() {
        let call = RollCall(
            [finding("a", Self.account()), finding("b", Self.account(version: "41"))],
            Demand(.own))
        #expect(words(call) == ["a late", "b late"])
        #expect(
            call.rows[0].obedience.why
                == "it is maintenance by flags version '42', and no more than half of the hosts decide alike"
        )
    }

    @Test func anInventorySaysWhoIsMissingAndWhoIsTooMany() throws {
        let inventory = try Inventory("A\nb:9100\nghost\n")
        let findings = [
            finding("a", Self.account()), finding("b", Self.account(.failed("up"))),
            finding("c", Self.account()),
        ]
        let call = RollCall(findings, Self.down, inventory)
        #expect(
            words(call) == ["a obeyed", "b:9100 failed", "c not in the inventory", "ghost silent"])
        #expect(call.rows[2].obedience.why == "it has obeyed")
        #expect(
            call.counts.map { "\($0.count) \($0.word)" } == [
                "1 failed", "1 silent", "1 not in the inventory",
            ])
        #expect(call.obeyed == 1)
    }

    /// One host that exported many names made silent hosts vanish: "1 of 1 host has obeyed".
    @Test func aHostOfManyNamesAccountsForOneLine() throws {
        let host = FleetHost(
            id: "10.0.0.1:9100", name: "web-1", aliases: ["web-1", "web-2", "web-3"])
        let call = RollCall(
            [HostFinding(host, .account(Self.account()))], Self.down,
            try Inventory("web-1\nweb-2\nweb-3\n"))
        #expect(words(call) == ["web-1 obeyed", "web-2 silent", "web-3 silent"])
        #expect((call.obeyed, call.total) == (1, 3))
        #expect(!Quorum.all.isReached(call))
    }

    /// What a host calls itself does not count: one that dies must not be spoken for.
    @Test func aHostCountsUnderTheNameThatOthersGiveIt() throws {
        let host = FleetHost(id: "4ec1", name: "web-2")
        func call(_ inventory: String) throws -> [String] {
            words(
                RollCall(
                    [HostFinding(host, .account(Self.account()))], Self.down,
                    try Inventory(inventory)))
        }
        #expect(try call("web-2") == ["web-2 not in the inventory", "web-2 silent"])
        #expect(try call("web-1 id=4EC1\nweb-2") == ["web-1 obeyed", "web-2 silent"])
        #expect(try call("4ec1") == ["4ec1 obeyed"])
        #expect(try call("4ec1 id=77") == ["4ec1 silent", "web-2 not in the inventory"])
        // Prometheus knows no ids.
        let scraped = RollCall(
            [finding("web-1", Self.account())], Self.down, try Inventory("web-1 id=4ec1"))
        #expect(words(scraped) == ["web-1 obeyed"])
        // The line means another host.
        #expect(try call("4ec1 id=77") == ["4ec1 silent", "web-2 not in the inventory"])
    }

    /// A host that was found twice has obeyed if both have, and a host that nobody lists does not count.
    @Test func theLinesOfTheInventoryCount() throws {
        let call = RollCall(
            [
                finding("a", Self.account()), finding("a", Self.account(.failed("up"))),
                finding("b", Self.account()), finding("c", Self.account()),
            ], Self.down, try Inventory("a\nb\n"))
        #expect((call.obeyed, call.total) == (1, 2))
        #expect(Quorum("50%")?.isReached(call) == true)
        #expect(Quorum("51%")?.isReached(call) == false)
    }

    @Test func anUnreadFleetHasNotObeyed() throws {
        let call = RollCall(unread: "no answer", try Inventory("a\nb"))
        #expect(words(call) == ["a unknown", "b unknown"])
        #expect(!Quorum.all.isReached(call))
        #expect(!Quorum.all.isReached(RollCall(unread: "no answer")))
        #expect(!Quorum.all.isReached(RollCall([], Self.down)))
    }

    @Test(arguments: [
        ("100%", 300, true), ("100%", 299, false), ("99%", 297, true), ("99%", 296, false),
        ("99.5%", 299, true), ("99.5%", 298, false), ("0.0001%", 1, true), ("1", 1, true),
        ("299", 299, true), ("301", 300, false),
    ]) func enoughIsAShareOrANumber(_ text: String, _ obeyed: Int, _ isEnough: Bool) throws {
        let findings = (1...300).map { number in
            finding(
                "\(number)", number <= obeyed ? Self.account() : Self.account(.failed("up")))
        }
        let quorum = try #require(Quorum(text))
        #expect(quorum.isReached(RollCall(findings, Self.down)) == isEnough)
        #expect(quorum.description == text)
    }

    @Test(arguments: [
        "", "%", "0", "0%", "0.00001%", "101%", "100.1%", "-1", "+5", "1.5", "99 %", "nan%",
        "9.%", ".5%", "1e2%", "99999999999999999999", "٣%",
    ]) func otherTextsAreNoQuorum(_ text: String) { #expect(Quorum(text) == nil) }
}
