import CivilTime
package import Decision
package import EventLoop
package import Faults
package import Files
package import Records
package import RemoteFlags

/// The only place where an effect is performed.
///
/// Whatever happens is queued; one deferred source of the loop drains the queue into the machine and
/// performs the effects. No effect calls the machine: one that fails at once queues an event like
/// everybody else.
package final class Agent {
    /// The machine, to be read.
    package private(set) var machine: Machine
    /// Hears what came of the inputs, in order.
    package var observer: ((Observation) -> Void)?

    private let loop: EventLoop
    private let runtime: RuntimeDirectory
    private let state: StateDirectory
    private let announce: (Notice) -> Void
    private var sources: [SourceName: Followed] = [:]
    private var versionFiles: VersionFiles?
    private var queue: [Input] = []
    private var isDraining = false
    private var drain: Deferred?
    private var bootTimer: Timer?
    private var wallTimer: WallTimer?
    private let kernel: WallTimer.Kernel
    /// The time that the wall timer is set to, until it has fired or the clock was set.
    private var wallWake: WallWake = .unset

    private enum WallWake: Equatable {
        case unset
        case at(Instant?)
    }

    /// What the agent takes in, in its turn of the queue.
    fileprivate enum Input {
        case event(Event)
        case reload(Reconfiguration)
    }

    /// A test gives a `kernel` that tells of steps of the clock, which nobody may set.
    package init(
        loop: EventLoop, machine: Machine, runtime: RuntimeDirectory, state: StateDirectory,
        kernel: WallTimer.Kernel = .real, announce: @escaping (Notice) -> Void
    ) {
        self.loop = loop
        self.machine = machine
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
        versionFiles?.follow(machine.plan.services)
        for source in followed {
            sources[source.name] = Followed(source)
            source.start()
        }
        post(.started)
    }

    /// Ends the watching and the fetches, and lets go of the observer, which may hold the agent. No file
    /// changes: stopping the daemon moves nothing.
    package func stop() {
        observer = nil
        for followed in sources.values { followed.source.stop() }
        sources = [:]
        versionFiles = nil
        drain = nil
        bootTimer = nil
        wallTimer = nil
    }

    /// Queues an event. This is how everything reaches the machine.
    package func post(_ event: Event) { post(.event(event)) }

    /// Goes on with another configuration, once all that was queued before is taken in.
    package func post(_ reload: Reconfiguration) { post(.reload(reload)) }

    /// Writes how the attached units of a service stand; nothing for one that is not configured.
    package func publish(_ units: [UnitRow], of name: ServiceName) throws(FileError) {
        guard let service = machine.plan.services.first(where: { $0.name == name }) else { return }
        try runtime.publish(units, of: service)
    }

    /// The time of an event that happens now.
    package var now: Now {
        let (wall, boot) = loop.now
        return Now(wall: wall, boot: boot)
    }

    // MARK: - Queue

    /// How late a poll may come, so that the kernel can wake us together with others.
    private static let slack: Duration = .milliseconds(20)

    /// The most inputs of one turn of the loop.
    private static let turn = 1000

    private func post(_ input: Input) {
        queue.append(input)
        if !isDraining { drain?.arm() }
    }

    /// Takes what is queued, and what its effects queue: a turn of the loop for each would be most of
    /// what a poll costs. What is left after so many lets others go first.
    private func drainQueue() {
        isDraining = true
        var taken = 0
        while taken < queue.count, taken < Self.turn {
            let event: Event
            switch queue[taken] {
            case .event(let queued): event = queued
            case .reload(let reload): event = takeUp(reload, after: taken + 1)
            }
            taken += 1
            for effect in machine.handle(event, at: now) { perform(effect) }
            observer?(.handled(event))
        }
        queue.removeFirst(taken)
        isDraining = false
        if queue.isEmpty { observer?(.settled) }
        if !queue.isEmpty { drain?.arm() }
    }

    /// Follows the sources of another configuration, and tells the machine which of them another object
    /// fetches from now on. These have no fetch in flight: when they are fetched is the machine's to
    /// decide. `taken` is how much of the queue is taken in.
    private func takeUp(_ reload: Reconfiguration, after taken: Int) -> Event {
        var replaced: [SourceName: Replacement] = [:]
        var remembered: [SourceName: Memory.Kept] = [:]
        for source in reload.sources {
            let before = sources[source.name]?.source
            guard before !== source else { continue }
            before?.stop()
            // A report that is queued is about the object before, and says nothing about this one.
            let others = queue[taken...].filter { !$0.isReport(of: source.name) }
            queue.replaceSubrange(taken..., with: others)
            if let before {
                replaced[source.name] =
                    source.isBound(by: before.binding) ? .sameAddress : .otherAddress
            } else {
                remembered[source.name] = reload.remember(source)
            }
            sources[source.name] = Followed(source)
            source.start()
        }
        versionFiles?.follow(reload.plan.services)
        return .reconfigured(reload.plan, replaced: replaced, remembered: remembered)
    }

    // MARK: - Effects

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
            report(.markConfirmed(name)) { () throws(FileError) in try markConfirmed(name) }
        case .storeOverrides(let overrides):
            report(.storeOverrides) { () throws(FileError) in try state.keep(overrides) }
        case .storeLedger(let ledger):
            report(.storeLedger) { () throws(FileError) in try state.remember(ledger) }
        case .publish(let service, let record):
            report(.publish(service.name)) { () throws(FileError) in
                try runtime.publish(record, of: service)
            }
            observer?(.decided(service.name, record.verdict))
        case .withdraw(let name):
            report(.publish(name)) { () throws(FileError) in try runtime.withdraw(name) }
            observer?(.decided(name, nil))
        case .unfollow(let name):
            sources.removeValue(forKey: name)?.source.stop()
            report(.markConfirmed(name)) { () throws(FileError) in try runtime.unmark(name) }
        case .reject(let name, let override, let objection):
            observer?(.rejected(name, override, objection))
        case .announce(let notice):
            announce(notice)
        case .sleep(let wake):
            sleep(until: wake)
        }
    }

    /// Marks the source as confirmed. The files that are looked after with it change by somebody
    /// else's hand, if ever: once a second is often enough, and most of what a fast poll would cost.
    private func markConfirmed(_ name: SourceName) throws(FileError) {
        try runtime.confirm(name)
        guard let followed = sources[name] else { return }
        let now = now
        if let last = followed.checkedAt, now.boot < last + Self.checkInterval { return }
        let followers = machine.plan.services.filter { $0.switches.contains { $0.source == name } }
        try runtime.check(followers.map(\.name))
        try state.confirm(name, at: now.wall)
        followed.checkedAt = now.boot
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

/// What came of an input.
package enum Observation {
    /// A service was decided, and its files are written, or could not be: files come before gates, but a
    /// full disk must not keep a switch from firing. Nil is a service that is gone.
    case decided(ServiceName, Verdict?)
    /// An operator's order is not taken.
    case rejected(ServiceName, Override, OrderObjection)
    /// An event was taken in, and its effects were performed.
    case handled(Event)
    /// Everything that was posted has been taken in, and its effects were performed.
    case settled
}

/// Another configuration, and what it brings.
package struct Reconfiguration {
    let plan: Plan
    let sources: [any FlagSource]
    let remember: (any FlagSource) -> Memory.Kept?

    /// `sources` are all sources of the plan; those that stay as they were are the same objects. Those
    /// that are gone are stopped when the machine lets go of them. `remember` gives what is stored of
    /// one that is new.
    package init(
        _ plan: Plan, sources: [any FlagSource],
        remember: @escaping (any FlagSource) -> Memory.Kept?
    ) {
        self.plan = plan
        self.sources = sources
        self.remember = remember
    }
}

/// A source, and what the agent itself has to know of it.
private final class Followed {
    let source: any FlagSource
    /// When the files of its services were last looked after.
    var checkedAt: Boottime?

    init(_ source: any FlagSource) {
        self.source = source
    }
}

extension Agent.Input {
    /// Whether a source itself says this of what it does. A hint does no harm, and may come from an
    /// operator.
    fileprivate func isReport(of source: SourceName) -> Bool {
        switch self {
        case .event(.fetched(let name, _, _)), .event(.unwatched(let name, _)),
            .event(.doubted(let name, _)):
            name == source
        case .event, .reload:
            false
        }
    }
}
