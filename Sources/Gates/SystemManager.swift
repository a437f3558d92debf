import Bus
import CivilTime
package import Decision
package import EventLoop

/// systemd's manager, for a command that has nothing else to do while it waits for the answer.
package final class SystemManager {
    let loop: EventLoop
    let bus: Bus

    /// Why a call failed: systemd did not answer, or refused.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// Whether the caller lacks the right; otherwise systemd or the bus is not there.
        package let isDenied: Bool
        /// The name of the error on the bus; nil where it is ours.
        let name: String?

        init(_ error: any Error) {
            let answer = error as? BusError
            description = "\(error)"
            isDenied = answer?.isDenied ?? false
            name = answer?.name
        }

        /// It was asked about something else than a unit.
        init(unreadable unit: UnitName) {
            description = "read unit '\(unit)': systemd does not tell how it stands"
            isDenied = false
            name = nil
        }
    }

    /// Connects. `address` is that of the bus, where it is not the system's. A command that has a loop
    /// lends it, and hears of its own events while it waits for an answer.
    package init(address: String?, on loop: EventLoop? = nil) throws(Failure) {
        do {
            self.loop = try loop ?? EventLoop()
            // A connection that is gone answers every call with an error.
            bus = try Bus(self.loop, address: address ?? Bus.systemAddress) {}
        } catch {
            throw Failure(error)
        }
    }

    /// Everything about a unit. One that is not there is described as such.
    package func describe(_ unit: UnitName) throws(Failure) -> UnitDescription {
        try ask(.read(unit)) { message throws(BusError) in try message.description(of: unit) }
    }

    /// Has systemd read its units again, and waits until it has.
    package func reload() throws(Failure) {
        try ask(.manager("read the units again", "Reload")) { _ throws(BusError) in }
    }

    /// Makes a call, and runs the loop until it is answered.
    func ask<Answer>(
        _ call: Call, within limit: Duration = .seconds(120),
        _ read: @escaping (Message) throws(BusError) -> Answer
    ) throws(Failure) -> Answer {
        var answer: Result<Answer, BusError>?
        do {
            try bus.call(call, within: limit) { result in
                answer = result.flatMap { message in
                    Result { () throws(BusError) in try read(message) }
                }
            }
            while true {
                if let answer { return try answer.get() }
                try loop.runOnce(limit)
            }
        } catch {
            throw Failure(error)
        }
    }
}

/// What a drill asks of systemd, which has to answer soon: a gate is closed meanwhile.
extension SystemManager {
    /// Everything that a drill asks of a unit.
    package func snapshot(of unit: UnitName) throws(Failure) -> UnitSnapshot {
        let snapshot = try ask(.read(unit), within: Self.patience) { message throws(BusError) in
            try message.unitSnapshot()
        }
        guard let snapshot else { throw Failure(unreadable: unit) }
        return snapshot
    }

    /// Has systemd remember what it knows of a unit for as long as this connection lives: it forgets a
    /// unit that is down and that nothing refers to.
    package func keep(_ unit: UnitName) throws(Failure) {
        try ask(
            .manager("keep unit '\(unit)' loaded", "RefUnit", [.text(unit.text)]),
            within: Self.patience
        ) { _ throws(BusError) in }
    }

    /// How these units stand, in one call.
    package func list(_ units: [UnitName]) throws(Failure) -> [UnitName: UnitStatus] {
        try ask(
            .manager("list units", "ListUnitsByNames", [.texts(units.map(\.text))]),
            within: Self.patience
        ) { message throws(BusError) in try message.loadedUnits() }
    }

    /// Has a unit started as by hand, and waits for what comes of that, at most for `limit`. What is
    /// still on its way up then was not refused.
    package func tryStart(_ unit: UnitName, within limit: Duration) throws(Failure) -> ManualStart {
        try subscribe()
        let jobs = try FinishedJobs(on: bus)
        let job: String
        do {
            job = try ask(
                .manager("start '\(unit)'", "StartUnit", [.text(unit.text), .text("replace")]),
                within: Self.patience
            ) { message throws(BusError) in try message.text("o") }
        } catch  where error.isOfSystemd {
            return .refused
        }
        try wait(for: limit) { jobs.results[job] != nil }
        return jobs.results[job].map { ManualStart(job: $0) } ?? .accepted
    }

    private func wait(for time: Duration, until isOver: () -> Bool) throws(Failure) {
        let deadline = loop.now.boot + time
        while !isOver(), loop.now.boot < deadline {
            do {
                try loop.runOnce(deadline - loop.now.boot)
            } catch {
                throw Failure(error)
            }
        }
    }

    /// systemd sends its signals to those alone who asked for them.
    private func subscribe() throws(Failure) {
        do {
            try ask(
                .manager("subscribe to systemd", "Subscribe"), within: Self.patience
            ) { _ throws(BusError) in }
        } catch  where error.isRepetition {}
    }

    private static let patience: Duration = .seconds(10)
}

/// How jobs ended, by their objects, while this lives.
private final class FinishedJobs {
    private(set) var results: [String: String] = [:]
    private var match: Match?

    init(on bus: Bus) throws(SystemManager.Failure) {
        do {
            match = try Match(
                bus,
                "type='signal',sender='\(Call.systemd)',path='\(ObjectPath.manager)',"
                    + "interface='\(Call.systemd).Manager',member='JobRemoved'"
            ) { [unowned self] message in note(message) }
        } catch {
            throw SystemManager.Failure(error)
        }
    }

    /// A signal that cannot be read tells nothing.
    private func note(_ message: Message) {
        let read = Result { () throws(BusError) -> (job: String, result: String) in
            try message.skip("u")
            let job = try message.text("o")
            try message.skip("s")
            return (job, try message.text())
        }
        if case .success(let end) = read { results[end.job] = end.result }
    }
}

extension ManualStart {
    /// By the word that systemd gives the end of a job: `result` of JobRemoved,
    /// org.freedesktop.systemd1(5).
    fileprivate init(job result: String) {
        switch result {
        case "dependency": self = .refused
        // It was begun, however it ended.
        case "done", "failed", "timeout": self = .accepted
        default: self = .unclear(result)
        }
    }
}

extension SystemManager.Failure {
    /// systemd itself has said no, and not the bus on the way to it.
    fileprivate var isOfSystemd: Bool { name?.hasPrefix(Call.systemd) ?? false }

    fileprivate var isRepetition: Bool { name == BusError.repetition }
}
