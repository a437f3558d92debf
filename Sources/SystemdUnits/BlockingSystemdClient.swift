import CivilTime
package import Decision
package import EventLoop
import Files
package import Gates
import Glibc
import Systemd

extension Bus {
    /// Connects to systemd's own socket, which is there for root from the start of a boot, also without a bus.
    convenience init(toSystemdOn loop: EventLoop) throws(BusError) {
        try self.init(loop, peer: "/run/systemd/private")
    }
}

/// Calls of systemd's manager that block until the answer comes, for a command.
package final class BlockingSystemdClient {
    let loop: EventLoop
    let bus: Bus

    /// Why a call failed: systemd did not answer, or refused.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// The error of a call of the bus; nil if something else failed.
        fileprivate let call: BusError?

        /// Whether the caller lacks the right; otherwise systemd or the bus is not there.
        package var isDenied: Bool { call?.isDenied ?? false }

        /// Whether systemd refused the call, and not the bus.
        package var isOfSystemd: Bool { call?.isOfSystemd ?? false }
    }

    /// Connects. `address` is the address of the bus; nil for the system bus. A command with a loop
    /// of its own lends it, and handles its own events while it waits for an answer. Where the bus has
    /// no socket, because it starts later in the boot or is not installed, root asks systemd itself.
    package init(address: String?, on loop: EventLoop? = nil) throws(Failure) {
        let loop = try orFail { try loop ?? EventLoop() }
        self.loop = loop
        // After the loss of the connection every call fails, so that no wait is endless.
        let socket = Bus.socketPath(of: address)
        let hasBus = readable { try socket.map { try File.exists($0) } ?? true } ?? true
        bus = try orFail {
            try hasBus || geteuid() != 0 ? Bus(loop, address: address) : Bus(toSystemdOn: loop)
        }
    }

    /// What decides whether a unit can be attached. A unit that does not exist has the load state `not-found`.
    package func describe(_ unit: UnitName) throws(Failure) -> UnitDescription {
        var description = UnitDescription(name: unit)
        let read = { (name: String, interface: String) throws(Failure) in
            try self.callAndWait(.property(name, of: unit, interface)) {
                try description.read(name, from: $0)
            }
        }
        for (interface, names) in UnitDescription.properties(of: unit) {
            for name in names { try read(name, interface) }
        }
        if description.mustReadFileState { try read("UnitFileState", "Unit") }
        return description
    }

    /// Has systemd read its unit files again, and waits for the end of that.
    package func reload() throws(Failure) {
        try callAndWait(.manager("read the units again", "Reload")) { _ in }
    }

    /// Whether a unit is enabled, as `systemctl is-enabled` has it.
    package func isEnabled(_ unit: UnitName) throws(Failure) -> Bool {
        try callAndWait(.property("UnitFileState", of: unit, "Unit")) { try $0.word() == "enabled" }
    }

    /// Enables a unit as `systemctl enable` does, or disables it. systemd has to read its units again after it.
    package func setEnabled(_ isEnabled: Bool, _ unit: UnitName) throws(Failure) {
        let (verb, member) =
            isEnabled ? ("enable", "EnableUnitFiles") : ("disable", "DisableUnitFiles")
        // Not for the present boot alone, and without replacing links of others.
        let flags: [Call.Argument] = isEnabled ? [.flag(false), .flag(false)] : [.flag(false)]
        try callAndWait(
            .manager("\(verb) unit '\(unit)'", member, [.texts([unit.text])] + flags)
        ) { _ in }
    }

    /// Makes a call, and runs the loop until it is answered.
    func callAndWait<Answer>(
        _ call: Call, within limit: Duration = .seconds(120),
        _ read: @escaping (Message) throws -> Answer
    ) throws(Failure) -> Answer {
        try orFail {
            var answer: Result<Answer, any Error>?
            try bus.call(call, within: limit) { result in answer = Result { try read(result.get()) }
            }
            while true {
                if let answer { return try answer.get() }
                try loop.runOnce(limit)
            }
        }
    }
}

/// The calls of a drill. Their time limit is short, because a gate is closed meanwhile.
extension BlockingSystemdClient {
    /// The properties of a unit that a drill needs.
    package func snapshot(of unit: UnitName) throws(Failure) -> UnitSnapshot {
        let snapshot = try callAndWait(.read(unit), within: Self.timeLimit) {
            try $0.unitSnapshot()
        }
        guard let snapshot else {
            throw Failure(
                description: "read unit '\(unit)': systemd does not tell how it stands", call: nil)
        }
        return snapshot
    }

    package func list(_ units: [UnitName]) throws(Failure) -> [UnitName: UnitStatus] {
        try callAndWait(
            .manager("list units", "ListUnitsByNames", [.texts(units.map(\.text))]),
            within: Self.timeLimit
        ) { try $0.loadedUnits() }
    }

    /// Starts a unit as an administrator would; a job that still runs after `limit` was accepted.
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
        var results: [String: String] = [:]
        let match = try orFail {
            try Match(bus, from: Call.systemd, Match.signal(ofManager: "JobRemoved")) { message in
                // A signal that cannot be read is ignored.
                guard let ended = message.content({ try $0.finishedJob() }) else { return }
                results[ended.job] = ended.result
            }
        }
        let job = try callAndWait(
            .manager("start '\(unit)'", "StartUnit", [.text(unit.text), .text("replace")]),
            within: Self.timeLimit
        ) { try $0.text("o") }
        let deadline = loop.now.boot + limit
        try withExtendedLifetime(match) { () throws(Failure) in
            while results[job] == nil, loop.now.boot < deadline {
                if bus.isLost {
                    throw Failure(
                        description: "start '\(unit)': the connection to the bus is gone", call: nil
                    )
                }
                _ = try orFail { try loop.runOnce(deadline - loop.now.boot) }
            }
        }
        return results[job]
    }

    /// systemd sends its signals only to subscribers.
    private func subscribe() throws(Failure) {
        do {
            try callAndWait(.subscribe, within: Self.timeLimit) { _ in }
        } catch  where error.call?.isRepetition ?? false {}
    }

    private static let timeLimit: Duration = .seconds(10)
}

/// Runs `body`, and turns any error of it into a failure of a call.
private func orFail<Value>(_ body: () throws -> Value) throws(BlockingSystemdClient.Failure)
    -> Value
{
    do {
        return try body()
    } catch {
        throw BlockingSystemdClient.Failure(description: "\(error)", call: error as? BusError)
    }
}

/// The result of a start by hand.
package enum ManualStart: Hashable, Sendable {
    case refused
    case accepted
    /// The job ended with this word, which is neither.
    case unclear(String)

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
