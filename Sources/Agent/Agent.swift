import CivilTime
package import Decision
package import EventLoop
package import Faults
package import Files
package import Pages
package import Records
package import RemoteFlags

/// Performs effects and queues events: no other type does either.
///
/// Every event is queued; a deferred source of the loop drains the queue into the machine and
/// performs the effects. No effect calls the machine: a failed effect queues an event.
package final class Agent {
    /// The machine, for readers.
    package private(set) var machine: Machine
    /// Is called with the outcomes of the inputs, in order.
    package var observer: ((Observation) -> Void)?

    private let loop: EventLoop
    private let runtime: RuntimeDirectory
    private let state: StateDirectory
    private let announce: (Notice) -> Void
    private var sources: [SourceName: Followed] = [:]
    /// The pages of the services that configure one.
    private var pages: [ServiceName: Page]
    private var versionFiles: VersionFiles?
    private var queue: [Input] = []
    /// The records of undecided services, which are written when the queue is empty.
    private var undecided: [ServiceName: (service: Service, record: Record)] = [:]
    private var isDraining = false
    /// Whether a write has failed, and the machine may wait for its success.
    private var hasFailed = false
    private var drain: Deferred?
    private var bootTimer: Timer?
    private var wallTimer: WallTimer?
    private let kernel: WallTimer.Kernel
    private let synchronisation: Synchronisation
    /// The wake-up of the wall timer, until it has expired or the clock was set; nil then.
    private var wallWake: Wake?

    /// An agent that is not started. A test gives a `kernel` that simulates steps of the clock.
    package init(
        loop: EventLoop, machine: Machine, runtime: RuntimeDirectory, state: StateDirectory,
        pages: [ServiceName: Page] = [:],
        kernel: WallTimer.Kernel = .real, synchronisation: Synchronisation = .kernel,
        announce: @escaping (Notice) -> Void
    ) {
        self.loop = loop
        self.machine = machine
        self.runtime = runtime
        self.state = state
        self.pages = pages
        self.kernel = kernel
        self.synchronisation = synchronisation
        self.announce = announce
    }

    /// Starts the timers and these sources. Throws if the kernel gives no timer.
    package func start(_ followed: [any FlagSource]) throws(SystemError) {
        drain = Deferred(loop) { [unowned self] in drainQueue() }
        bootTimer = try Timer(loop, accuracy: Self.slack) { [unowned self] in post(.woke) }
        wallTimer = try WallTimer(loop, kernel: kernel) { [unowned self] expiry in
            wallWake = nil
            if expiry == .clockStepped { synchronisation.clockWasSet() }
            post(expiry == .due ? Event.woke : .clockStepped)
        }
        versionFiles = VersionFiles(loop) { [unowned self] event in post(event) }
        versionFiles?.follow(machine.plan.services)
        let keys = machine.plan.keysRead
        for source in followed {
            sources[source.name] = Followed(source, mark: runtime.mark(of: source.name))
            source.follow(keys[source.name] ?? [])
            source.start()
        }
        post(.started)
    }

    /// Stops the sources and timers, and drops the observer, which may hold the agent. It changes
    /// no file: a stop of the daemon moves no gate.
    package func stop() {
        observer = nil
        for followed in sources.values { followed.source.stop() }
        sources = [:]
        versionFiles = nil
        drain = nil
        bootTimer = nil
        wallTimer = nil
    }

    /// Queues an event for the machine.
    package func post(_ event: Event) { post(.event(event)) }

    /// Queues another configuration; it takes force after the inputs before it.
    package func post(_ reload: Reconfiguration) { post(.reload(reload)) }

    /// Writes the states of the attached units of a service; does nothing for an unknown service.
    package func publish(_ units: [UnitRow], of name: ServiceName) throws(FileError) {
        guard let service = machine.service(name.text) else { return }
        try runtime.publish(units, of: service)
    }

    /// What differs whenever the machine has something new to tell, without a copy of the machine.
    package var newsMark: NewsMark { machine.newsMark }

    /// The present time, by both clocks.
    package var now: Now {
        let (wall, boot) = loop.now
        return Now(wall: wall, boot: boot, isSynchronised: synchronisation.value())
    }

    // MARK: - Queue

    /// How late a poll may come, so that the kernel can coalesce wake-ups.
    private static let slack: Duration = .milliseconds(20)

    /// The largest number of inputs in one dispatch of the loop.
    private static let turn = 1000

    private func post(_ input: Input) {
        queue.append(input)
        if !isDraining { drain?.arm() }
    }

    /// Handles the queued inputs and those that their effects queue, up to `turn`; the rest follows
    /// in the next dispatch, after other sources of the loop. A dispatch for each input would be
    /// most of the cost of a poll.
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
            if machine.isClockContradicted { synchronisation.renew() }
            observer?(.handled(event))
        }
        queue.removeFirst(taken)
        isDraining = false
        guard queue.isEmpty else {
            drain?.arm()
            return
        }
        publishUndecided()
        hasFailed = machine.hasPendingWrites
        observer?(.settled)
    }

    /// Follows the sources of another configuration. The event tells the machine which sources
    /// another object fetches from now on: these have no fetch in flight. `taken` is the number of
    /// inputs that were already taken from the queue.
    private func takeUp(_ reload: Reconfiguration, after taken: Int) -> Event {
        var replaced: [SourceName: Replacement] = [:]
        var remembered: [SourceName: Memory.StoredFlags] = [:]
        let keys = reload.plan.keysRead
        for source in reload.sources {
            source.follow(keys[source.name] ?? [])
            let before = sources[source.name]?.source
            guard before !== source else { continue }
            before?.stop()
            // A queued report comes from the object before, and does not concern the new object.
            let others = queue[taken...].filter { !$0.isReport(of: source.name) }
            queue.replaceSubrange(taken..., with: others)
            if let before {
                replaced[source.name] =
                    source.isBound(by: before.binding) ? .sameAddress : .otherAddress
                source.recall(machine.answers(of: source.name))
            } else {
                remembered[source.name] = reload.remember(source)
            }
            sources[source.name] = Followed(source, mark: runtime.mark(of: source.name))
            source.start()
        }
        versionFiles?.follow(reload.plan.services)
        takeUp(reload.pages, of: reload.plan.services)
        return .reconfigured(reload.plan, replaced: replaced, remembered: remembered)
    }

    /// Follows the pages of another configuration. The files of a service whose page has changed are written again,
    /// once the machine has taken up the reload.
    private func takeUp(_ next: [ServiceName: Page], of services: [Service]) {
        let before = pages
        pages = next
        guard next != before else { return }
        for service in services where next[service.name] != before[service.name] {
            post(.removed(service.name))
        }
    }

    // MARK: - Effects

    private func perform(_ effect: Effect) {
        switch effect {
        case .fetch(let name, let validators):
            sources[name]?.source.fetch(unlessMatching: validators)
        case .storeFlags(let name, let answers):
            guard let source = sources[name]?.source else { return }
            source.recall(answers)
            report(.storeFlags(name)) { () throws(FileError) in
                try state.store(answers, of: name, binding: source.binding)
                if answers.isEmpty { try runtime.unmark(name) }
            }
        case .storeVersion(let name, let version):
            report(.storeVersion(name)) { () throws(FileError) in
                try state.store(version, of: name)
            }
        case .dropVersion(let name):
            report(.dropVersion(name)) { () throws(FileError) in try state.dropVersion(of: name) }
        case .readVersion(let name): post(.versionRead(name, state.version(of: name)))
        case .forget(let name): sources[name]?.source.forget()
        case .markConfirmed(let name):
            report(.markConfirmed(name)) { () throws(FileError) in try markConfirmed(name) }
        case .storeOverrides(let overrides):
            report(.storeOverrides) { () throws(FileError) in try state.store(overrides) }
        case .storeLedger(let ledger, let changed):
            report(.storeLedger) { () throws(FileError) in
                try state.store(ledger, changed: changed)
            }
        case .publish(let service, let record):
            if record.verdict.state == .undecided {
                undecided[service.name] = (service, record)
            } else {
                undecided[service.name] = nil
                publish(record, of: service)
            }
        case .withdraw(let name):
            undecided[name] = nil
            report(.publish(name)) { () throws(FileError) in try runtime.withdraw(name) }
            observer?(.decided(name, nil))
        case .unfollow(let name):
            sources.removeValue(forKey: name)?.source.stop()
            report(.markConfirmed(name)) { () throws(FileError) in try runtime.unmark(name) }
        case .reject(let name, let override, let objection):
            observer?(.rejected(name, override, objection))
        case .announce(let notice): announce(notice)
        case .passOn(let name): observer?(.told(name))
        case .sleep(let wake): sleep(until: wake)
        }
    }

    private func publish(_ record: Record, of service: Service) {
        report(.publish(service.name)) { () throws(FileError) in
            try runtime.publish(record, of: service, page: pages[service.name] ?? .standard)
        }
        observer?(.decided(service.name, record))
    }

    /// Writes the records of the services that are still undecided. A source that answers at once, such as a
    /// file, decides its services before: their files are written once at a start, not twice.
    private func publishUndecided() {
        let waiting = undecided.values.sorted { $0.service.name < $1.service.name }
        undecided = [:]
        for (service, record) in waiting { publish(record, of: service) }
    }

    /// Marks the source as confirmed, and checks files of its services for foreign changes. The check
    /// is most of the cost of a poll, so it runs at most once a second, for some services: those that
    /// follow have their turn at the next check.
    private func markConfirmed(_ name: SourceName) throws(FileError) {
        guard let followed = sources[name] else { return }
        try File.touch(followed.mark)
        let now = now
        if let last = followed.checkedAt, now.boot < last + Self.checkInterval { return }
        let followers = machine.followers(of: name, after: followed.checked, Self.checkedAtOnce)
        followed.checked = followers.next
        try runtime.check(followers.names.filter { undecided[$0] == nil })
        try state.confirm(name, at: now.wall)
        followed.checkedAt = now.boot
    }

    private static let checkInterval: Duration = .seconds(1)

    /// How many services are checked at a time.
    private static let checkedAtOnce = 100

    /// Performs a write and queues its outcome. There is one publication for each service, so that it is an
    /// event only if it has failed, or others have.
    private func report(_ operation: WriteOperation, _ perform: () throws(FileError) -> Void) {
        do {
            try perform()
            if case .publish = operation, !hasFailed { return }
            post(.recorded(operation, problem: nil))
        } catch {
            hasFailed = true
            post(.recorded(operation, problem: "\(error)"))
        }
    }

    private func sleep(until wake: Wake) {
        if let moment = wake.boot { bootTimer?.set(at: moment) } else { bootTimer?.disarm() }
        if let wallWake, wallWake.wall == wake.wall { return }
        wallWake = wake
        wallTimer?.set(at: wake.wall)
    }
}
