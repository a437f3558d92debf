import Bus
package import Decision
package import EventLoop

/// systemd's manager, for a command that has nothing else to do while it waits for the answer.
package final class SystemManager {
    let loop: EventLoop
    let bus: Bus

    /// Why systemd gave no answer, or which.
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
