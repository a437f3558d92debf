import CivilTime
import Decision
import EventLoop
import Files
import FlagSources
import Storage

/// How the effects of the machine are performed.
extension DecisionDriver {
    /// Performs the effects of an event, in their order; some of them later.
    func perform(_ effects: [Effect], of event: Event) {
        for effect in effects {
            switch effect {
            case .publish(let service, let record) where mayWait(record, of: service.name):
                if waiting.updateValue(record, forKey: service.name) == nil { later.append(effect) }
            case .log, .announce:
                // The line comes after the files.
                if later.isEmpty { perform(effect) } else { later.append(effect) }
            default: perform(effect)
            }
        }
        observer?(.handled(event))
    }

    /// Performs effects that were left, until the turn has taken its time.
    func performLater() {
        var rest = later[...]
        while let effect = rest.popFirst() {
            if case .publish(let service, _) = effect {
                guard let record = waiting[service.name] else { continue }
                perform(.publish(service, record))
            } else {
                perform(effect)
            }
            if loop.now.boot >= turnEnd { break }
        }
        later = Array(rest)
    }

    /// Whether the files of a service are written later: so many that they take longer than a turn keep no other
    /// service from closing. An undecided one waits too: a source that answers at once, such as a file, decides it
    /// before, and its files are written once at a start, not twice.
    private func mayWait(_ record: PublishedVerdict, of service: ServiceName) -> Bool {
        if record.verdict.state == .undecided { return true }
        guard waiting[service] != nil || loop.now.boot >= turnEnd else { return false }
        return record.verdict.gate == .open || runtime.marker(of: service) == .closed
    }

    func perform(_ effect: Effect) {
        switch effect {
        case .fetch(let name, let validators, nil):
            sources[name]?.source.fetch(unlessMatching: validators)
        case .ask(let name): askGuard?(name)
        case .fetch(let name, let validators, let mirror?):
            sources[name]?.source.fetch(from: mirror, unlessMatching: validators)
        case .storeFlags(let name, let answers):
            guard let source = sources[name]?.source else { return }
            source.documents?.setAnswersInForce(answers)
            performWrite(.storeFlags(name)) {
                try setAside(.flags(name))
                try state.store(answers, of: name, fingerprint: source.fingerprint)
                if answers.isEmpty { try runtime.removeConfirmation(of: name) }
            }
        case .storeVersion(let name, let version):
            performWrite(.storeVersion(name)) { try state.store(version, of: name) }
        case .dropVersion(let name):
            performWrite(.dropVersion(name)) { try state.dropVersion(of: name) }
        case .reserveVersion(let name):
            performWrite(.reserveVersion(name)) { try state.reserveVersion(of: name) }
        case .readVersion(let name): post(.versionRead(name, state.version(of: name)))
        case .readAgain(let records):
            post(.memoryRead(MemoryReader(state, runtime).read(records, of: sources)))
        case .setAside(let record): unreadable.insert(record)
        case .forget(let name): sources[name]?.source.forget()
        case .markConfirmed(let name):
            performWrite(.markConfirmed(name)) { try markConfirmed(name) }
        case .storeOverrides(let overrides):
            performWrite(.storeOverrides) {
                try setAside(.overrides)
                try state.store(overrides)
            }
        case .storeLedger(let ledger):
            performWrite(.storeLedger) {
                try setAside(.ledger)
                try state.store(ledger)
            }
        case .publish(let service, let record):
            waiting[service.name] = nil
            publish(record, of: service)
        case .withdraw(let name):
            waiting[name] = nil
            performWrite(.publish(name)) { try runtime.withdraw(name, isTied: isTied(name)) }
            observer?(.decided(name, nil))
        case .stopSource(let name):
            sources.removeValue(forKey: name)?.source.stop()
            state.abandon(name)
            performWrite(.markConfirmed(name)) { try runtime.removeConfirmation(of: name) }
        case .reject(let name, let override, let objection):
            observer?(.rejected(name, override, objection))
        case .log(let notice): log(notice)
        case .announce(let name, let hook): observer?(.announced(name, hook))
        case .sleep(let wake): sleep(until: wake)
        }
    }

    /// Beside the marker `closed` each start is refused, and nothing would start the units later: a gate whose marker
    /// cannot be moved opens with the next attempt.
    private func publish(_ record: PublishedVerdict, of service: Service) {
        let isWritten = performWrite(.publish(service.name)) {
            try runtime.publish(record, of: service, page: self.page(of: service.name))
        }
        let isOpening = record.verdict.gate == .open
        let isDelayed = !isWritten && isOpening && runtime.marker(of: service.name) == .closed
        observer?(isDelayed ? .openingDelayed(service.name) : .decided(service.name, record))
    }

    private func markConfirmed(_ name: SourceName) throws(FileError) {
        guard let followed = sources[name] else { return }
        let now = now
        let age = machine.ageFromCaches(of: name, at: now)
        let confirmed = now.wall - age
        try runtime.confirm(followed.mark, at: age > .zero ? confirmed : nil)
        try state.confirm(name, at: confirmed)
    }

    /// Performs a write and queues its outcome. A publication is an event only if it has failed, or others have.
    /// Returns whether it has succeeded.
    @discardableResult
    private func performWrite(
        _ operation: WriteOperation, _ perform: () throws -> Void
    ) -> Bool {
        do {
            try perform()
        } catch {
            hasFailed = true
            post(.writeEnded(operation, problem: "\(error)"))
            return false
        }
        if case .publish = operation, !hasFailed { return true }
        post(.writeEnded(operation, problem: nil))
        return true
    }

    /// Gives a file another name that cannot be read, before it is written.
    private func setAside(_ record: StoredRecord) throws(FileError) {
        guard !unreadable.isEmpty, unreadable.contains(record) else { return }
        try state.setAside(record, at: now.wall)
        unreadable.remove(record)
    }

    private func sleep(until wake: Wake) {
        bootTimer?.set(at: wake.boot)
        if let wallWake, wallWake.wall == wake.wall { return }
        wallWake = wake
        wallTimer?.set(at: wake.wall)
    }
}
