import CivilTime
package import EventLoop
import Systemd

/// Whether the wall clock of this host is synchronised: the kernel's word, adjtimex(2).
///
/// The sandbox of the shipped unit forbids that call with all those that can set the clock. There
/// systemd-timedated(8) is asked, which makes it. It is asked at the start, after the clock was set,
/// and while something contradicts the clock or an order waits for it, for nothing else depends on the answer.
package final class ClockSynchronisation {
    private let loop: EventLoop
    private let address: String?
    private let kernel: () -> Bool?
    /// Is called from the loop when timedated has given another answer.
    package var changed: () -> Void = {}
    private var bus: Bus?
    private var answer: Bool?
    private var kernelAnswer: (isSynchronised: Bool?, at: Boottime)?
    /// When timedated was last asked; nil while no earlier question counts.
    private var askedAt: Boottime?

    /// How long an answer counts while the clock is in question.
    private static let lifetime: Duration = .seconds(60)

    /// Asks at once. `address` is that of the bus; nil for the system bus. `kernel` is nil if it does not tell.
    package init(
        _ loop: EventLoop, address: String?,
        kernel: @escaping () -> Bool? = { EventLoop.isClockSynchronised }
    ) {
        self.loop = loop
        self.address = address
        self.kernel = kernel
        renew()
    }

    /// Whether the clock is synchronised; nil if unknown. A poll asks four times, the kernel is asked once a second.
    package var value: Bool? {
        let now = loop.now.boot
        if let kernelAnswer, now - kernelAnswer.at < .seconds(1) {
            return kernelAnswer.isSynchronised ?? answer
        }
        let isSynchronised = kernel()
        kernelAnswer = (isSynchronised, now)
        return isSynchronised ?? answer
    }

    /// The clock was set: an earlier answer is void.
    package func clockWasSet() {
        answer = nil
        kernelAnswer = nil
        askedAt = nil
        renew()
    }

    /// Asks again, unless the kernel tells this process itself or the last question is recent.
    package func renew() {
        guard kernel() == nil else { return }
        let now = loop.now.boot
        if let askedAt, now - askedAt < Self.lifetime { return }
        askedAt = now
        do throws(BusError) {
            try connected().call(Self.question, within: .seconds(5)) { [unowned self] result in
                // An answer to a question from before the clock was set tells nothing.
                guard askedAt == now else { return }
                stateRead(Self.answer(in: result))
            }
        } catch {
            stateRead(false)
        }
    }

    private func stateRead(_ answer: Bool) {
        guard self.answer != answer else { return }
        self.answer = answer
        changed()
    }

    private func connected() throws(BusError) -> Bus {
        if let bus, !bus.isLost { return bus }
        let new = try Bus(loop, address: address)
        bus = new
        return new
    }

    private static let timedated = "org.freedesktop.timedate1"
    private static let question = Call.property(
        "NTPSynchronized", of: timedated, at: "/org/freedesktop/timedate1", by: timedated,
        "ask whether the clock is synchronised")

    /// Without an answer nobody says that the clock is synchronised.
    private static func answer(in result: Result<Message, BusError>) -> Bool {
        guard case .success(let message) = result else { return false }
        return message.content { try $0.inside("v", "b", $0.bool) } ?? false
    }
}
