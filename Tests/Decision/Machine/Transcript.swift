import CivilTime
import Decision
import JSON
import Support
import Testing

/// Sends events to a machine and writes down its effects, a line each. The tests compare the text. Times
/// are seconds since the start, on both clocks.
struct Transcript {
    private(set) var text = ""
    private(set) var machine: Machine
    private let start: Instant
    /// For how long the host was up at the start.
    private var bootedFor: Duration
    private var bootID = "this-boot"
    private let place: HostPlace
    private let clockFloor: Instant
    private var elapsed: Duration = .zero
    /// How far the wall clock was set since the start.
    private var step: Duration = .zero
    /// What the kernel says of the wall clock.
    var isSynchronised: Bool? = false
    private var wake = Wake()
    /// What is stored for the next start.
    private var memory: Memory

    init(
        _ services: [Service], interval: Duration = .seconds(60), memory: Memory = Memory(),
        start: String = "2027-03-01T12:00:00Z", clockFloor: String = "2026-01-01T00:00:00Z",
        place: HostPlace = .named(""),
        bootedFor: Duration = .seconds(1000)
    ) throws {
        try self.init(
            plan: Plan(services, interval: interval), memory: memory, start: start,
            clockFloor: clockFloor, place: place, bootedFor: bootedFor)
    }

    init(
        plan: Plan, memory: Memory = Memory(), start: String = "2027-03-01T12:00:00Z",
        clockFloor: String = "2026-01-01T00:00:00Z",
        place: HostPlace = .named(""), bootedFor: Duration = .seconds(1000)
    ) throws {
        self.start = try Instant(rfc3339: start)
        self.bootedFor = bootedFor
        self.place = place
        self.clockFloor = try Instant(rfc3339: clockFloor)
        self.memory = memory
        machine = Machine(
            plan: plan, memory: memory, place: place, bootID: bootID, clockFloor: self.clockFloor,
            seed: 1,
            at: Now(
                wall: self.start, boot: Boottime(microseconds: 0) + bootedFor, isSynchronised: nil)
        )
    }

    var now: Now {
        Now(
            wall: start + elapsed + step,
            boot: Boottime(microseconds: 0) + bootedFor + elapsed, isSynchronised: isSynchronised)
    }

    var ledger: Ledger { memory.ledger.value ?? Ledger() }

    /// Lets time pass until this many seconds since the start.
    mutating func wait(until seconds: Double) {
        elapsed = .microseconds(Int64(seconds * 1_000_000))
    }

    /// Ends the daemon. The next one, or after a reboot that of the next boot, finds what is stored.
    mutating func restart(_ plan: Plan, isReboot: Bool) {
        if isReboot { (bootID, bootedFor) = ("next-boot", .seconds(10) - elapsed) }
        wake = Wake()
        machine = Machine(
            plan: plan, memory: memory, place: place, bootID: bootID, clockFloor: clockFloor,
            seed: 1, at: now)
    }

    private mutating func store(_ effect: Effect) {
        let nothing = Memory.StoredFlags(answers: [], confirmedAt: now.wall)
        switch effect {
        case .storeFlags(let source, let answers):
            memory.flags[source, default: nothing].answers = answers
        case .markConfirmed(let source):
            memory.flags[source, default: nothing].confirmedAt = now.wall
        case .storeVersion(let source, let version):
            memory.flags[source, default: nothing].accepted = .known(version)
        case .dropVersion(let source): memory.flags[source, default: nothing].accepted = .none
        case .storeLedger(let ledger): memory.ledger = .known(ledger)
        case .storeOverrides(let overrides): memory.overrides = .known(overrides)
        default: break
        }
    }

    /// Clears the text, to leave out the usual beginning.
    mutating func forget() { text = "" }

    func expectWithoutFetches(
        _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(textWithoutFetches == expected + "\n", sourceLocation: sourceLocation)
    }

    /// The text without fetches, which depend on the schedule.
    var textWithoutFetches: String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("    fetch ") }.joined(separator: "\n")
    }

    /// Sends `event` at this many seconds since the start.
    @discardableResult mutating func at(_ seconds: Double, _ event: Event) -> [Effect] {
        wait(until: seconds)
        let effects = machine.handle(event, at: now)
        for case .sleep(let wake) in effects { self.wake = wake }
        for effect in effects { store(effect) }
        let shown = effects.filter { effect in
            switch effect {
            // Tests of orders compare the effect.
            case .sleep, .reject: false
            default: true
            }
        }
        text += "\(secondsText(seconds)) "
        text += TranscriptFormat.text(of: event, shown, since: now)
        return effects
    }

    /// Wakes the machine at each of its wake-ups until this time, while no fetch ends. This is not in the text.
    @discardableResult mutating func hang(until seconds: Double) -> [Effect] {
        let last = Duration.microseconds(Int64(seconds * 1_000_000))
        var all: [Effect] = []
        while let next = nextWake, next < last {
            elapsed = max(elapsed, next)
            wake = Wake()
            let effects = machine.handle(.woke, at: now)
            for case .sleep(let wake) in effects { self.wake = wake }
            for effect in effects { store(effect) }
            all += effects
        }
        return all
    }

    private var nextWake: Duration? {
        let boot = wake.boot.map { $0 - Boottime(microseconds: 0) - bootedFor }
        let wall = wake.wall.map { $0 - start - step }
        return [boot, wall].compactMap(\.self).min()
    }

    /// Wakes the machine at its wake-up on the wall clock.
    @discardableResult mutating func atNextEdge() -> [Effect] {
        guard let edge = wake.wall else { return [] }
        return at(Double((edge - start).microseconds) / 1_000_000, .woke)
    }

    /// Sends an answer with this body, and with the `Date` of its server if it has one.
    @discardableResult
    mutating func at(
        _ seconds: Double, _ source: String, answers body: String, date: Instant? = nil
    ) throws -> [Effect] {
        wait(until: seconds)
        let answer = try answer(body, fetchedAt: now.wall)
        return at(seconds, .fetchEnded(try named(source), .answer(answer), date: date))
    }

    /// The time at this many seconds since the start, whatever the wall clock was set to.
    func trueTime(at seconds: Double) -> Instant {
        start + .microseconds(Int64(seconds * 1_000_000))
    }

    /// Steps the wall clock.
    mutating func step(by distance: Duration) { step += distance }

    /// Steps the wall clock, and tells the machine.
    mutating func stepClock(_ seconds: Double, by distance: Duration) {
        step(by: distance)
        at(seconds, .clockStepped)
    }
}

func answer(_ body: String, fetchedAt: Instant) throws -> Answer {
    let bytes = Array(body.utf8)
    return Answer(body: bytes, flags: try FlagDocument.parse(bytes), fetchedAt: fetchedAt)
}

/// A service of one switch on source `app`; a test gives only the values that matter.
func service(
    _ name: String = "shop", format: Format = .serviceEnd, policy: Policy = Policy(),
    zone: Zone = .utc, sources: [String] = ["app"]
) throws -> Service {
    Service(
        name: try named(name), zone: zone,
        switches: try sources.map { Switch(source: try named($0), format: format) },
        policy: policy)
}

extension Plan {
    /// A plan of these services and the sources of their switches, each polled at this interval.
    init(_ services: [Service], interval: Duration = .seconds(60)) {
        var names: [SourceName] = []
        for name in services.flatMap(\.switches).map(\.source) where !names.contains(name) {
            names.append(name)
        }
        self.init(
            sources: names.map { SourcePlan(name: $0, interval: interval) }, services: services)
    }
}

extension Transcript {
    var states: [State] { machine.overview(at: now).services.map(\.state) }

    mutating func states(at seconds: Double, _ event: Event = .woke) -> [State] {
        at(seconds, event)
        return states
    }

    /// The state of each service at this time, until which no fetch ends.
    mutating func states(hangingUntil seconds: Double) -> [State] {
        hang(until: seconds)
        return states
    }

    mutating func states(at seconds: Double, _ source: String, answers body: String) throws
        -> [State]
    {
        try at(seconds, source, answers: body)
        return states
    }
}

extension Format {
    static let serviceEnd = Format.serviceEnd(
        endKeys: ["service_end", "is_service_end"], countdownKey: "service_countdown")
}

func published(_ effects: [Effect]) -> [String] {
    effects.compactMap { effect in
        if case .publish(let service, _) = effect { service.name.text } else { nil }
    }
}
