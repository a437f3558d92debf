import Bus
import CivilTime
package import Decision
package import EventLoop

/// Calls of systemd's manager that block until the answer comes, for a command.
package final class SystemManager {
    let loop: EventLoop
    let bus: Bus

    /// Why a call failed: systemd did not answer, or refused.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// Whether the caller lacks the right; otherwise systemd or the bus is not there.
        package let isDenied: Bool
        /// The name of the error on the bus; nil if the call failed in this process.
        let name: String?

        init(_ error: any Error) {
            let answer = error as? BusError
            description = "\(error)"
            isDenied = answer?.isDenied ?? false
            name = answer?.name
        }

        /// systemd's answer has no state of the unit.
        init(unreadable unit: UnitName) {
            description = "read unit '\(unit)': systemd does not tell how it stands"
            isDenied = false
            name = nil
        }
    }

    /// Connects. `address` is the address of the bus; nil for the system bus. A command with a loop
    /// of its own lends it, and handles its own events while it waits for an answer.
    package init(address: String?, on loop: EventLoop? = nil) throws(Failure) {
        do {
            self.loop = try loop ?? EventLoop()
            // After the loss of the connection every call fails, so that no wait is endless.
            bus = try Bus(self.loop, address: address ?? Bus.systemAddress) {}
        } catch {
            throw Failure(error)
        }
    }

    /// All properties of a unit. A unit that does not exist has the load state `not-found`.
    package func describe(_ unit: UnitName) throws(Failure) -> UnitDescription {
        try ask(.read(unit)) { message throws(BusError) in try message.description(of: unit) }
    }

    /// Has systemd read its unit files again, and waits for the end of that.
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

/// The calls of a drill. Their time limit is short, because a gate is closed meanwhile.
extension SystemManager {
    /// The properties of a unit that a drill needs.
    package func snapshot(of unit: UnitName) throws(Failure) -> UnitSnapshot {
        let snapshot = try ask(.read(unit), within: Self.patience) { message throws(BusError) in
            try message.unitSnapshot()
        }
        guard let snapshot else { throw Failure(unreadable: unit) }
        return snapshot
    }

    /// Keeps a unit loaded for as long as this connection lives: systemd unloads a unit that is
    /// down and that nothing refers to, and its time stamps are lost.
    package func keep(_ unit: UnitName) throws(Failure) {
        try ask(
            .manager("keep unit '\(unit)' loaded", "RefUnit", [.text(unit.text)]),
            within: Self.patience
        ) { _ throws(BusError) in }
    }

    /// The status of these units, by one call.
    package func list(_ units: [UnitName]) throws(Failure) -> [UnitName: UnitStatus] {
        try ask(
            .manager("list units", "ListUnitsByNames", [.texts(units.map(\.text))]),
            within: Self.patience
        ) { message throws(BusError) in try message.loadedUnits() }
    }

    /// Starts a unit as an administrator would, and waits for the end of the job, at most for
    /// `limit`. A job that is still running then was accepted.
    package func tryStart(_ unit: UnitName, within limit: Duration) throws(Failure) -> ManualStart {
        do {
            return try start(unit, within: limit).map { ManualStart(job: $0) } ?? .accepted
        } catch  where error.isOfSystemd {
            return .refused
        }
    }

    /// Starts a unit, and waits for the end of the job, at most for `limit`. Returns the result of
    /// the job, a word of JobRemoved in org.freedesktop.systemd1(5); nil if it is still running.
    package func start(_ unit: UnitName, within limit: Duration) throws(Failure) -> String? {
        try subscribe()
        let jobs = try FinishedJobs(on: bus)
        let job = try ask(
            .manager("start '\(unit)'", "StartUnit", [.text(unit.text), .text("replace")]),
            within: Self.patience
        ) { message throws(BusError) in try message.text("o") }
        try wait(for: limit) { jobs.results[job] != nil }
        return jobs.results[job]
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

    /// systemd sends its signals only to subscribers.
    private func subscribe() throws(Failure) {
        do {
            try ask(
                .manager("subscribe to systemd", "Subscribe"), within: Self.patience
            ) { _ throws(BusError) in }
        } catch  where error.isRepetition {}
    }

    private static let patience: Duration = .seconds(10)
}

/// Collects the results of jobs, by the object paths of the jobs, for as long as it lives.
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

    /// A signal that cannot be read is ignored.
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
    /// Reads the result of a job: `result` of JobRemoved, org.freedesktop.systemd1(5).
    fileprivate init(job result: String) {
        switch result {
        // The target of the open gate is down, or the service's marker says closed.
        case "dependency", "assert": self = .refused
        // The start was accepted, even if the unit failed afterwards.
        case "done", "failed", "timeout": self = .accepted
        default: self = .unclear(result)
        }
    }
}

extension SystemManager.Failure {
    /// Whether systemd refused the start, and not the bus the call.
    package var isOfSystemd: Bool { name?.hasPrefix(Call.systemd) ?? false }

    fileprivate var isRepetition: Bool { name == BusError.repetition }
}
