import Bus
package import Decision
import EventLoop

/// systemd's manager, for a command that has nothing else to do while it waits for the answer.
package final class SystemManager {
    private let loop: EventLoop
    private let bus: Bus

    /// Why systemd gave no answer, or which.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// Whether the caller lacks the right; otherwise systemd or the bus is not there.
        package let isDenied: Bool
    }

    /// Connects. `address` is that of the bus, where it is not the system's.
    package init(address: String?) throws(Failure) {
        do {
            loop = try EventLoop()
            // A connection that is gone answers every call with an error.
            bus = try Bus(loop, address: address ?? Bus.systemAddress) {}
        } catch {
            throw Failure(description: "\(error)", isDenied: false)
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

    private func ask<Answer>(
        _ call: Call, _ read: @escaping (Message) throws(BusError) -> Answer
    ) throws(Failure) -> Answer {
        var answer: Result<Answer, BusError>?
        do {
            try bus.call(call, within: .seconds(120)) { result in
                answer = result.flatMap { message in
                    Result { () throws(BusError) in try read(message) }
                }
            }
            while true {
                if let answer { return try answer.get() }
                try loop.runOnce(.seconds(130))
            }
        } catch let error as BusError {
            throw Failure(description: "\(error)", isDenied: error.isDenied)
        } catch {
            throw Failure(description: "\(error)", isDenied: false)
        }
    }
}
