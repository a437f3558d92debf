import CivilTime
import Decision
import EventLoop
import Reports

/// Hosts repeat in virtual time what they have said, and some are killed. What is in etcd at two moments is printed: a
/// refresh after the killing, and two refreshes after it. The second moment is now, by the wall clock.
struct Refreshes {
    /// When all hosts have closed, some are killed, and the keys are read.
    private static let killing: Duration = .seconds(25 * 60)
    private static let readings = [
        killing + AcknowledgementMachine.period, killing + AcknowledgementMachine.period * 2,
    ]
    /// How long etcd needs for a put here.
    private static let latency: Duration = .milliseconds(5)

    private let count: Int
    private let killed: Int

    init(hosts count: Int, killed: Int) { (self.count, self.killed) = (count, killed) }

    func run() throws {
        let now = EventLoop.wallClock
        for number in 1...count {
            var member = FleetMember(number)
            let isKilled = number <= killed
            var random = SeededRandom(seed: UInt64(number))
            let gate = Duration.seconds(10).scaled(by: Double.random(in: 0...1, using: &random))
            let puts = puts(of: &member, from: gate, until: isKilled ? Self.killing : nil)
            for (index, reading) in Self.readings.enumerated() {
                guard let last = puts.last(where: { $0 <= reading }) else { continue }
                let at = now - (reading - last)
                let value = member.closed.bytes(at: at, next: at + AcknowledgementMachine.period)
                let text = String(decoding: value, as: UTF8.self)
                print("KEY \(index) \(isKilled ? "killed" : "alive") \(member.machineID) \(text)")
            }
        }
    }

    /// When the host puts its key.
    private func puts(
        of member: inout FleetMember, from gate: Duration, until end: Duration?
    ) -> [Duration] {
        let fingerprint = member.closed.hashValue
        let start = Boottime(microseconds: 0)
        var (puts, wakeAt): ([Duration], Boottime?) = ([], nil)
        var events: [(AcknowledgementEvent, Boottime)] = [
            (
                .published(FleetMember.service, fingerprint: fingerprint, isSettled: true),
                start + gate
            )
        ]
        while true {
            let (event, moment): (AcknowledgementEvent, Boottime)
            if let next = events.popLast() {
                (event, moment) = next
            } else if let wake = wakeAt {
                (event, moment) = (.woke, wake)
                wakeAt = nil
            } else {
                return puts
            }
            let last = Self.readings.last ?? .zero
            guard moment - start <= min(end ?? last, last) else { return puts }
            for effect in member.machine.handle(event, at: moment) {
                switch effect {
                case .sleep(let next): wakeAt = next
                case .put:
                    puts.append(moment + Self.latency - start)
                    events.append((.taken(fingerprint: fingerprint), moment + Self.latency))
                }
            }
        }
    }
}
