import CivilTime

/// What could not be written, and when that is tried again.
struct Arrears: Hashable, Sendable {
    var deeds: [Deed] = []
    var attempts = 0
    var retryAt: Boottime?
}

extension Machine {
    /// Notes how a deed went. What failed is tried again after 1, 2, 4 … 60 seconds; the verdict does
    /// not wait for it, for a full disk must not keep a switch from firing.
    mutating func note(_ deed: Deed, _ problem: String?, at now: Now, _ batch: inout Batch) {
        guard let problem else {
            guard let index = arrears.deeds.firstIndex(of: deed) else { return }
            arrears.deeds.remove(at: index)
            guard arrears.deeds.isEmpty else { return }
            arrears = Arrears()
            batch.notices.append(.recordsRecovered)
            return
        }
        if !arrears.deeds.contains(deed) {
            arrears.deeds.append(deed)
            batch.notices.append(.recordFailed(deed, problem: problem))
        }
        if case .confirm = deed { doubtPublications() }
        guard arrears.retryAt == nil else { return }
        arrears.retryAt = now.boot + .seconds(min(60, 1 << min(arrears.attempts, 6)))
        arrears.attempts += 1
    }

    /// A mark that cannot be set may mean that somebody removed the whole folder: every service's
    /// files are written again.
    private mutating func doubtPublications() {
        for service in services where service.record != nil {
            let deed = Deed.publish(service.service.name)
            if !arrears.deeds.contains(deed) { arrears.deeds.append(deed) }
        }
    }

    /// Does again what failed, when its time has come. The deeds stay in arrears until they are
    /// reported done.
    mutating func retryArrears(at now: Now, _ batch: inout Batch) {
        guard let moment = arrears.retryAt, moment <= now.boot else { return }
        arrears.retryAt = nil
        for deed in arrears.deeds {
            switch deed {
            case .store(let name):
                guard let index = wiring.source(name) else { continue }
                batch.stores.append(.store(name, sources[index].answers.map(\.answer)))
            case .confirm(let name):
                if wiring.source(name) == nil {
                    batch.departures.append(.drop(name))
                } else {
                    batch.confirmations.append(.confirm(name))
                }
            case .remember:
                batch.isLedgerChanged = true
            case .keep:
                batch.areOverridesChanged = true
            case .publish(let name):
                guard let index = wiring.service(name) else {
                    batch.departures.append(.withdraw(name))
                    continue
                }
                guard let record = services[index].record else { continue }
                batch.publications.append(.publish(name, record))
            }
        }
    }
}
