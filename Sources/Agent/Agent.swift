import CivilTime
package import Decision
package import EventLoop
package import Faults
package import Files
package import Records
package import RemoteFlags

/// The only place where an effect is performed.
///
/// Whatever happens is queued as an event; one deferred source of the loop drains the queue into the
/// machine and performs what it wants done. No effect calls the machine: one that fails at once
/// queues an event like everybody else.
package final class Agent {
    private let loop: EventLoop
    private var machine: Machine
    var runtime: RuntimeDirectory
    private let state: StateDirectory
    private let announce: (Notice) -> Void
    var sources: [SourceName: Followed] = [:]
    /// The configured services.
    package internal(set) var services: [Service]
    var versionFiles: VersionFiles?
    var queue: [Event] = []
    /// What belongs to each `reconfigured` that is queued, in their order.
    var configurations: [Following] = []
    private var drain: Deferred?
    private var bootTimer: Timer?
    private var wallTimer: WallTimer?
    private let kernel: WallTimer.Kernel
    /// What the wall timer is set to, until it has fired or the clock was set.
    private var wallWake: WallWake = .unset
    private var isDraining = false

    /// Sees every event after its effects were performed.
    package var observer: ((Event) -> Void)?

    /// Hears of each decision once its files are written, whatever came of that: files come before
    /// gates, but a full disk must not keep a switch from firing. Nil is a service that is gone.
    package var decided: ((ServiceName, Verdict?) -> Void)?
    /// Called when everything that was posted has been taken in, and its effects are performed.
    package var settled: (() -> Void)?

    /// A test gives a `kernel` that tells of steps of the clock, which nobody may set.
    package init(
        loop: EventLoop, machine: Machine, runtime: RuntimeDirectory, state: StateDirectory,
        kernel: WallTimer.Kernel = .real, announce: @escaping (Notice) -> Void
    ) {
        self.loop = loop
        self.machine = machine
        services = machine.configuredServices
        self.runtime = runtime
        self.state = state
        self.kernel = kernel
        self.announce = announce
    }

    /// Takes up work with these sources.
    package func start(_ followed: [any FlagSource]) throws(SystemError) {
        drain = Deferred(loop) { [unowned self] in drainQueue() }
        bootTimer = try Timer(loop, accuracy: Self.slack) { [unowned self] in post(.woke) }
        wallTimer = try WallTimer(loop, kernel: kernel) { [unowned self] expiry in
            wallWake = .unset
            switch expiry {
            case .due: post(.woke)
            case .clockStepped: post(.clockStepped)
            }
        }
        versionFiles = VersionFiles(loop) { [unowned self] event in post(event) }
        versionFiles?.follow(services)
        for source in followed {
            sources[source.name] = Followed(source)
            source.start()
        }
        post(.started)
    }

    /// Ends the watching and the fetches, and lets go of its listeners, who may hold it. No file changes:
    /// stopping the daemon moves nothing.
    package func stop() {
        (observer, decided, settled) = (nil, nil, nil)
        for followed in sources.values { followed.source.stop() }
        sources = [:]
        versionFiles = nil
        drain = nil
        bootTimer = nil
        wallTimer = nil
    }

    /// Queues an event. This is how everything reaches the machine.
    package func post(_ event: Event) {
        queue.append(event)
        if !isDraining { drain?.arm() }
    }

    /// Writes how the attached units of a service stand.
    package func publish(_ units: [UnitRow], of service: ServiceName) throws(FileError) {
        try runtime.publish(units, of: service)
    }

    /// How things stand.
    package var overview: Overview { machine.overview(at: now) }

    /// What was last published of a service; nil where nothing was yet.
    package func record(of service: ServiceName) -> Record? { machine.record(of: service) }

    /// Whether a service has flags that wait for the next start, or to be activated.
    package func isStaged(_ service: ServiceName) -> Bool { machine.isStaged(service) }

    /// Whether the host guard keeps a service open.
    package func isHeld(_ service: ServiceName) -> Bool { machine.isHeld(service) }

    /// What speaks against an order that is for an open gate alone.
    package func objection(to service: ServiceName) -> Objection? {
        machine.objection(to: service)
    }

    /// Whether the work goes on: the watchdog is fed by this alone.
    package var isProgressing: Bool { machine.isProgressing(at: now) }

    /// How late a poll may come, so that the kernel can wake us together with others.
    private static let slack: Duration = .milliseconds(20)

    private enum WallWake: Equatable {
        case unset
        case at(Instant?)
    }

    /// Takes what is queued, and what its effects queue: a turn of the loop for each would be most of
    /// what a poll costs. What is left after so many lets others go first.
    private func drainQueue() {
        isDraining = true
        var taken = 0
        while taken < queue.count, taken < Self.turn {
            var event = queue[taken]
            taken += 1
            if case .reconfigured(let plan, _, _) = event { event = takeUp(plan, after: taken) }
            for effect in machine.handle(event, at: now) { perform(effect) }
            observer?(event)
        }
        queue.removeFirst(taken)
        isDraining = false
        if queue.isEmpty { settled?() }
        if !queue.isEmpty { drain?.arm() }
    }

    /// The most events of one turn of the loop.
    private static let turn = 1000

    private var now: Now {
        let (wall, boot) = loop.now
        return Now(wall: wall, boot: boot)
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .fetch(let name, let validators):
            guard let followed = sources[name] else { return }
            followed.source.fetch(unlessMatching: validators)
        case .storeFlags(let name, let answers):
            guard let source = sources[name]?.source else { return }
            report(.storeFlags(name)) { () throws(FileError) in
                try state.store(answers, of: name, binding: source.binding)
                if answers.isEmpty { try runtime.unmark(name) }
            }
        case .markConfirmed(let name):
            report(.markConfirmed(name)) { () throws(FileError) in
                try confirm(name)
            }
        case .storeOverrides(let overrides):
            report(.storeOverrides) { () throws(FileError) in try state.keep(overrides) }
        case .storeLedger(let ledger):
            report(.storeLedger) { () throws(FileError) in try state.remember(ledger) }
        case .publish(let name, let record):
            report(.publish(name)) { () throws(FileError) in
                try runtime.publish(record, of: name)
            }
            decided?(name, record.verdict)
        case .withdraw(let name):
            report(.publish(name)) { () throws(FileError) in try runtime.withdraw(name) }
            decided?(name, nil)
        case .unfollow(let name):
            sources.removeValue(forKey: name)?.source.stop()
            report(.markConfirmed(name)) { () throws(FileError) in try runtime.unmark(name) }
        case .announce(let notice):
            announce(notice)
        case .sleep(let wake):
            sleep(until: wake)
        }
    }

    /// Marks the source as confirmed. The files that are looked after with it change by somebody
    /// else's hand, if ever: once a second is often enough, and most of what a fast poll would cost.
    private func confirm(_ name: SourceName) throws(FileError) {
        try runtime.confirm(name)
        guard let followed = sources[name] else { return }
        let (wall, boot) = loop.now
        if let last = followed.checkedAt, boot < last + Self.checkInterval { return }
        try runtime.check(name)
        try state.confirm(name, at: wall)
        followed.checkedAt = boot
    }

    private static let checkInterval: Duration = .seconds(1)

    /// Performs a write and queues how it went.
    private func report(_ operation: WriteOperation, _ perform: () throws(FileError) -> Void) {
        do {
            try perform()
            post(.recorded(operation, problem: nil))
        } catch {
            post(.recorded(operation, problem: "\(error)"))
        }
    }

    private func sleep(until wake: Wake) {
        if let moment = wake.boot { bootTimer?.set(at: moment) } else { bootTimer?.disarm() }
        if wallWake != .at(wake.wall) {
            wallWake = .at(wake.wall)
            wallTimer?.set(at: wake.wall)
        }
    }
}
