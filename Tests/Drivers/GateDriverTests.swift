import BusSupport
import CivilTime
import Decision
import Drivers
import EventLoop
import Files
import Gates
import POSIX
import Storage
import Support
import SystemdUnits
import Testing

/// How decisions move targets: the real driver and the real mover on a private bus, and a systemd that does as it is
/// told.
@Suite(.timeLimit(.minutes(5)))
struct GateDriverTests {
    private let server: PrivateBus
    private let systemd: FakeSystemd
    private let driver: GateDriver
    private let mover: Mover
    private let folder: TemporaryFolder
    private let requests: DatagramListener
    private let published: Published
    private let shop: ServiceName = "shop"

    private final class Published {
        var rows: [UnitRow] = []
        var report: GateStatus?
        var notices: [GateLogMessage] = []
        /// How many of the next reports cannot be written.
        var failures = 0
    }

    private static let (open, closed) = (
        "killswitch-open@shop.target", "killswitch-closed@shop.target"
    )
    private static let maintenance = "killswitch-maintenance@shop.target"

    /// The gate of the shop is open, and its unit runs.
    init() throws {
        let (server, published) = (try PrivateBus(), Published())
        systemd = FakeSystemd(server.loop, address: server.address)
        let units = BusValue.array("s", [.text("app.service")])
        systemd.units = [
            Self.open: FakeSystemd.Unit(properties: ["RequisiteOf": units, "Wants": units]),
            "app.service": FakeSystemd.Unit(),
        ]
        systemd.wants = [Self.maintenance: Self.closed]
        systemd.stops = [
            Self.closed: [Self.open, "app.service"], Self.open: [Self.closed, Self.maintenance],
        ]
        folder = try TemporaryFolder()
        let runtime = folder("run")
        try Directory.create("\(runtime)/shop")
        try Directory.create("\(runtime)-gates")
        requests = try DatagramListener(.path(MoverPlaces.socket(beside: runtime)))
        mover = try Mover(
            server.loop, requests: requests.descriptor, runtime: runtime,
            record: MoverPlaces.record(beside: runtime), address: server.address
        ) { _ in }
        driver = try GateDriver(
            loop: server.loop, services: [shop], listed: [:], address: server.address,
            runtime: RuntimeDirectory(path: runtime, bootID: "boot"),
            publish: { rows, _ in published.rows = rows },
            publishGate: { report, _ in
                guard published.failures == 0 else {
                    published.failures -= 1
                    throw TestFailure("the disk is full")
                }
                published.report = report
            },
            announce: { published.notices.append($0) })
        (self.server, self.published) = (server, published)
    }

    private func decide(_ gate: Gate) {
        let time = Instant(seconds: 1_800_000_000)
        let verdict = Verdict(
            state: gate == .open ? .running : .maintenance, gate: gate, reason: .starting)
        driver.serviceDecided(
            PublishedVerdict(
                verdict: verdict, since: time, generation: 1, decidedAt: time, nextEdge: time),
            of: shop)
    }

    private func run(until isDone: () -> Bool) throws { try server.run(until: isDone) }

    private func runUntil(_ actual: GateStatus.Actual) throws {
        try run { driver.overview.isReady && published.report?.actual == actual }
    }

    /// Starts on a bus with systemd, and waits until the gate stands open.
    private func start() throws {
        try systemd.connect()
        try run { systemd.isThere }
        try driver.start()
        decide(.open)
        try runUntil(.open)
    }

    @Test func aGateThatStandsAsDecidedIsListedAndNotMoved() throws {
        try start()
        try run { published.rows.first?.isAsWanted == true }
        #expect(published.rows.map(\.name.text) == ["app.service"])
        // What is attached is compared with what is listed.
        let calls: Set = ["list targets", "StartUnit killswitchd-attach.service"]
        #expect(calls.isSuperset(of: systemd.calls))
        #expect(driver.overview.findings.isEmpty)
    }

    @Test func aClosingIsSentAnsweredAndReportedOnceTheUnitIsDown() throws {
        try start()
        systemd.forget()
        decide(.closed)
        #expect(!driver.isAnswered(shop))
        try runUntil(.closed)
        #expect(driver.isAnswered(shop))
        // On a busy machine the unit that attaches others may be asked for between them, and the targets listed again.
        let others: Set = ["list targets", "StartUnit killswitchd-attach.service"]
        #expect(systemd.calls.first == "list targets")
        #expect(
            systemd.calls.filter { !others.contains($0) } == [
                "StopUnit \(Self.open)", "StartUnit \(Self.closed)",
                "StartUnit \(Self.maintenance)",
            ])
        try run { published.rows.first?.isAsWanted == true }
        #expect(published.notices.count == 1)
        decide(.open)
        try runUntil(.open)
    }

    /// What anybody on the host may send to the daemon's connection.
    @Test(arguments: [
        [
            "/org/freedesktop/systemd1/unit/killswitch_2dopen_40shop_2etarget",
            "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
            "org.freedesktop.systemd1.Unit", "1", "ActiveState", "s", "active", "0",
        ],
        [
            "/org/freedesktop/systemd1/unit/app_2eservice",
            "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
            "org.freedesktop.systemd1.Unit", "1", "ActiveState", "s", "active", "0",
        ],
        [
            "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "Reloading", "b",
            "false",
        ],
        [
            "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "JobRemoved", "uoss",
            "7", "/org/freedesktop/systemd1/job/7", "app.service", "assert",
        ],
        [
            "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
            "org.freedesktop.systemd1", "", ":1.1",
        ],
    ])
    func aSignalThatSystemdHasNotSentChangesNothing(_ signal: [String]) throws {
        let sentinel = BusValue.array("s", ["app.service", "web.service"].map { .text($0) })
        systemd.units["web.service"] = FakeSystemd.Unit()
        systemd.units[Self.open]?.properties = ["RequisiteOf": sentinel, "Wants": sentinel]
        systemd.stops[Self.closed] = [Self.open, "app.service", "web.service"]
        try start()
        decide(.closed)
        try runUntil(.closed)
        try systemd.change("app.service", to: "inactive")
        try run { published.rows.allSatisfy { $0.isAsWanted == true } }
        let (rows, report) = (published.rows, published.report)
        systemd.forget()
        try server.forge(signal)
        // It comes to the daemon after the forged ones.
        try systemd.change("web.service", to: "failed")
        try run { published.rows != rows }
        let app = published.rows.first { $0.name.text == "app.service" }
        #expect(app == rows.first { $0.name.text == "app.service" })
        #expect(published.report?.actual == report?.actual)
        #expect(systemd.calls.isEmpty)
        try systemd.reload()
        try run { systemd.calls.first == "list targets" }
    }

    /// As when systemd is executed anew: its connection is another one.
    @Test func aSystemdWithAnotherConnectionIsHeard() throws {
        try start()
        try systemd.connect()
        try run { systemd.isThere }
        try systemd.change("app.service", to: "failed")
        try run { published.rows.first?.seen?.active == .failed }
    }

    @Test func aMoveThatSystemdRefusesIsTriedAgain() throws {
        try start()
        systemd.refusal = ("org.freedesktop.systemd1.JobTypeNotApplicable", "Not applicable.")
        decide(.closed)
        try runUntil(.stuck)
        #expect(published.report?.problem == .refused("Not applicable"))
        #expect(driver.isAnswered(shop))
        systemd.refusal = nil
        try runUntil(.closed)
        #expect(published.report?.problem == nil)
    }

    @Test func aTargetThatSystemdLacksIsNamed() throws {
        try start()
        systemd.refusal = ("org.freedesktop.systemd1.NoSuchUnit", "Unit \(Self.closed) not found.")
        decide(.closed)
        try runUntil(.stuck)
        #expect(published.report?.problem == .noTarget("Unit \(Self.closed) not found"))
    }

    /// The gate is moved by what was decided while the bus was gone.
    @Test func aLostBusIsConnectedAgainAndTheGateIsComparedAnew() throws {
        try start()
        try server.end()
        try run { published.notices.contains { $0.isLoss } }
        decide(.closed)
        try server.launchAgain()
        systemd.forget()
        try systemd.connect()
        try runUntil(.closed)
        #expect(systemd.calls.contains("StartUnit \(Self.maintenance)"))
        #expect(
            published.notices.contains {
                if case .over(let finding) = $0 { finding.kind == .bus } else { false }
            })
    }

    /// A shutdown stops targets, and the bus, before systemd can say that the system is stopping.
    @Test func aGateThatMovedIsLeftAloneUntilSystemdSaysThatTheSystemStaysUp() throws {
        try start()
        systemd.secret = "SystemState"
        try systemd.change(Self.open, to: "inactive")
        try run { systemd.calls.contains("SystemState is secret") }
        #expect(published.report?.actual != .open)
        systemd.secret = nil
        try runUntil(.open)
        #expect(systemd.calls.contains("StartUnit \(Self.open)"))
        #expect(!published.notices.contains { $0.isMoveElsewhere })
    }

    @Test func withoutABusTheStartIsReadyAndTheGateIsUnknown() throws {
        try server.end()
        try driver.start()
        decide(.open)
        try run { driver.overview.isReady && !driver.overview.findings.isEmpty }
        #expect(systemd.calls.isEmpty)
    }

    /// The targets move, and the unit runs on: it is stopped once more by its target.
    @Test func aUnitThatDoesNotStopIsAProblem() throws {
        try start()
        systemd.stops[Self.closed] = [Self.open]
        systemd.forget()
        decide(.closed)
        try run { published.rows.first?.problem != nil }
        #expect(published.rows.first?.isAsWanted == false)
        #expect(published.report?.actual != .closed)
        try run { systemd.calls.contains { $0.hasPrefix("StopUnit ") } }
        try systemd.change("app.service", to: "inactive")
        try runUntil(.closed)
    }

    @Test func aReloadOfSystemdListsTargetsAndUnitsAgain() throws {
        try start()
        try run { published.rows.first?.seen != nil }
        systemd.units["web.service"] = FakeSystemd.Unit()
        let units = BusValue.array("s", ["app.service", "web.service"].map { .text($0) })
        systemd.units[Self.open]?.properties = ["RequisiteOf": units, "Wants": units]
        systemd.forget()
        try systemd.reload()
        try run { published.rows.count == 2 }
        #expect(systemd.calls.first == "list targets")
    }

    @Test func anAttachedUnitThatSystemdDoesNotKnowIsAProblem() throws {
        systemd.units["app.service"] = nil
        try systemd.connect()
        try run { systemd.isThere }
        try driver.start()
        decide(.open)
        try run { published.rows.first?.problem != nil }
        #expect(published.rows.first?.seen?.load == .missing)
    }

    /// The outcome of an effect is an event: a file that could not be written is written again.
    @Test func aReportThatCannotBeWrittenIsWrittenAgain() throws {
        try start()
        published.failures = 1
        decide(.closed)
        try runUntil(.closed)
        #expect(published.failures == 0)
    }
}

extension GateLogMessage {
    fileprivate var isMoveElsewhere: Bool { if case .movedElsewhere = self { true } else { false } }
    fileprivate var isLoss: Bool {
        if case .came(let finding) = self { finding.kind == .bus } else { false }
    }
}
