import CivilTime
package import Decision
package import EventLoop
package import Files
package import FlagSources
package import Gates
package import POSIX
package import Pages
package import Storage
package import SystemdUnits

/// Queues events, each for a turn of the loop, and performs effects. No effect calls the machine: one that fails queues
/// an event.
package final class DecisionDriver {
    package private(set) var machine: Machine
    /// Is called with the outcomes of the inputs, in order.
    package var observer: ((Observation) -> Void)?
    /// Asks a guard, whose answer comes as an event.
    package var askGuard: ((GuardName) -> Void)?

    /// Whether units are attached to a service.
    package var isTied: (ServiceName) -> Bool = { _ in false }

    let loop: EventLoop
    let runtime: RuntimeDirectory
    let state: StateDirectory
    let log: (LogMessage) -> Void
    var sources: [SourceName: ActiveSource] = [:]
    var pages: [ServiceName: Page]
    var versionFiles: VersionFileWatcher?
    let driver: MachineDriver<Input>
    /// The effects for which a turn had no time: files that close nothing, and what is said after them. They are
    /// performed when the queue is empty, a turn's worth at a time.
    var later: [Effect] = []
    /// The newest record of each service whose files are among them.
    var waiting: [ServiceName: PublishedVerdict] = [:]
    /// When the present turn has taken its time.
    var turnEnd: Boottime
    /// The stored files that cannot be read, and are set aside before they are written.
    var unreadable: Set<StoredRecord> = []
    /// Whether a write has failed, and the machine may wait for its success.
    var hasFailed = false
    var bootTimer: Timer?
    var wallTimer: WallTimer?
    private let kernel: WallTimer.Kernel
    private let synchronisation: ClockSynchronisation?
    /// The wake-up of the wall timer, until it has expired or the clock was set; nil then.
    var wallWake: Wake?

    /// A driver that is not started. `synchronisation` tells whether the wall clock is synchronised; nil for the kernel
    /// at each use. A test gives a `kernel` that simulates steps of the clock.
    package init(
        loop: EventLoop, machine: Machine, runtime: RuntimeDirectory, state: StateDirectory,
        pages: [ServiceName: Page] = [:],
        kernel: WallTimer.Kernel = .real, synchronisation: ClockSynchronisation? = nil,
        announce: @escaping (LogMessage) -> Void
    ) {
        self.loop = loop
        driver = MachineDriver(on: loop)
        self.machine = machine
        self.runtime = runtime
        self.state = state
        self.pages = pages
        self.kernel = kernel
        self.synchronisation = synchronisation
        self.log = announce
        turnEnd = loop.now.boot
    }

    /// Starts the timers and these sources. Throws if the kernel gives no timer.
    package func start(_ followed: [any FlagSource]) throws(SystemError) {
        driver.start { [unowned self] in drainQueue() }
        bootTimer = try Timer(loop, accuracy: Self.slack) { [unowned self] in post(.woke) }
        wallTimer = try WallTimer(loop, kernel: kernel) { [unowned self] expiry in
            wallWake = nil
            if expiry == .clockStepped { synchronisation?.clockWasSet() }
            post(expiry == .due ? Event.woke : .clockStepped)
        }
        versionFiles = VersionFileWatcher(loop) { [unowned self] event in post(event) }
        versionFiles?.watch(machine.plan.services)
        let keys = machine.plan.keysRead
        for source in followed {
            sources[source.name] = ActiveSource(
                source, mark: runtime.confirmationPath(of: source.name))
            source.setKeys(keys[source.name] ?? [])
            source.start()
        }
        post(.started)
    }

    /// Stops the sources and timers, and drops the observer. It moves no gate. An order that could not be stored is
    /// stored now if that is possible by now: the next start would know nothing of it.
    package func stop() {
        observer = nil
        for effect in machine.lastAttempt { perform(effect) }
        driver.stop()
        for followed in sources.values { followed.source.stop() }
        sources = [:]
        versionFiles = nil
        bootTimer = nil
        wallTimer = nil
    }

    package func post(_ event: Event) { driver.post(.event(event)) }

    /// Queues another configuration; it takes force after the inputs before it.
    package func post(_ reload: Reconfiguration) { driver.post(.reload(reload)) }

    /// Writes the states of the attached units of a service; does nothing for an unknown service.
    package func publish(_ units: [UnitRow], of name: ServiceName) throws(FileError) {
        guard let service = machine.service(name.text) else { return }
        try runtime.publish(units, of: service, now: loop.now)
    }

    /// Writes what the gate of a known service is in fact, and whether people see its page.
    package func publish(_ report: GateStatus, of name: ServiceName) throws(FileError) {
        guard let service = machine.service(name.text) else { return }
        // Whether people see the page does not depend on the file.
        let result = Result { () throws(FileError) in
            try runtime.publish(report, of: service, now: loop.now)
        }
        guard let isUnavailable = report.isUnavailable,
            let record = machine.publishedVerdict(of: name)
        else {
            return try result.get()
        }
        do {
            try runtime.publish(
                isUnavailable: isUnavailable, record, of: service, page: page(of: name))
        } catch {
            // A page that could not be written is written again with the record.
            hasFailed = true
            post(.writeEnded(.publish(name), problem: "\(error)"))
            throw error
        }
        try result.get()
    }

    func page(of service: ServiceName) -> Page { pages[service] ?? .standard }

    /// Whether every event was handled, and what follows from it was done.
    package var isIdle: Bool { driver.isEmpty && later.isEmpty }

    /// What differs whenever the machine has something new to tell.
    package var overviewRevision: OverviewRevision { ask { $0.overviewRevision } }

    /// Asks the machine where it lies: a copy costs more than most questions.
    @inline(__always)
    func ask<Answer>(_ question: (borrowing Machine) -> Answer) -> Answer {
        func lend(_ machine: inout Machine) -> Answer { question(machine) }
        return lend(&machine)
    }

    package var now: Now {
        let (wall, boot) = loop.now
        let isSynchronised = synchronisation.map(\.value) ?? EventLoop.isClockSynchronised
        return Now(wall: wall, boot: boot, isSynchronised: isSynchronised)
    }

    // MARK: - Queue

    /// How late a poll may come, so that the kernel can coalesce wake-ups.
    private static let slack: Duration = .milliseconds(20)

    /// How long one turn may take; one input more, or the files of one service, may take longer.
    private static let turn: Duration = .milliseconds(10)

    /// Handles the queued inputs and those that their effects queue; what is left follows in the next turn, after other
    /// sources of the loop. A turn for each input would be most of the cost of a poll.
    private func drainQueue() {
        turnEnd = loop.now.boot + Self.turn
        driver.handleEvents(while: { loop.now.boot < turnEnd }) { input in
            let event: Event
            switch input {
            case .event(let queued): event = queued
            case .reload(let reload): event = applyReload(reload)
            }
            perform(machine.handle(event, at: now), of: event)
            if ask({ $0.isClockInQuestion }) { synchronisation?.renew() }
        }
        if driver.isEmpty { performLater() }
        guard isIdle else { return driver.requestTurn() }
        hasFailed = ask { $0.hasPendingWrites }
        observer?(.queueDrained)
    }

    /// Follows the sources of another configuration. The event tells the machine which sources
    /// another object fetches from now on: these have no fetch in flight.
    private func applyReload(_ reload: Reconfiguration) -> Event {
        var replaced: [SourceName: Replacement] = [:]
        var remembered: [SourceName: Memory.StoredFlags] = [:]
        let keys = reload.plan.keysRead
        for source in reload.sources {
            source.setKeys(keys[source.name] ?? [])
            let before = sources[source.name]?.source
            guard before !== source else {
                source.documents?.refresh()
                continue
            }
            before?.stop()
            // A queued report comes from the object before, and does not concern the new object.
            driver.removeAll { $0.isReport(of: source.name) }
            if let before {
                replaced[source.name] =
                    source.matches(fingerprint: before.fingerprint) ? .sameAddress : .otherAddress
                source.documents?.setAnswersInForce(machine.answers(of: source.name))
            } else {
                remembered[source.name] = reload.remember(source)
            }
            sources[source.name] = ActiveSource(
                source, mark: runtime.confirmationPath(of: source.name))
            source.start()
        }
        versionFiles?.watch(reload.plan.services)
        replacePages(reload.pages, of: reload.plan.services)
        return .reconfigured(reload.plan, replaced: replaced, remembered: remembered)
    }

    /// Follows the pages of another configuration. Where the page has changed, the files are written again.
    private func replacePages(_ next: [ServiceName: Page], of services: [Service]) {
        let before = pages
        pages = next
        guard next != before else { return }
        for service in services where next[service.name] != before[service.name] {
            post(.filesDeleted(service.name))
        }
    }
}

/// A source of which the machine may ask a fetch.
final class ActiveSource {
    let source: any FlagSource
    /// The path of its mark, made once: a poll touches it.
    let mark: String

    init(_ source: any FlagSource, mark: String) {
        self.source = source
        self.mark = mark
    }
}
