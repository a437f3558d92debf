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
        killing + Telling.period, killing + Telling.period * 2,
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
                let first = now - (reading - (puts.first ?? last))
                let value = member.closed.bytes(at: first)
                let text = String(decoding: value, as: UTF8.self)
                let sign = String(
                    decoding: SignOfLife(at: now - (reading - last), of: value).bytes,
                    as: UTF8.self)
                let fate = isKilled ? "killed" : "alive"
                print("KEY \(index) \(fate) \(member.machineID) \(sign) \(text)")
            }
        }
    }

    /// When the host puts its brief, and then its signs of life.
    private func puts(
        of member: inout FleetMember, from gate: Duration, until end: Duration?
    ) -> [Duration] {
        let start = Boottime(microseconds: 0)
        let last = min(end ?? .seconds(86_400), Self.readings.last ?? .zero)
        var (puts, wakeAt): ([Duration], Boottime?) = ([], nil)
        var events: [(TellingEvent, Boottime)] = [
            (.configured(isOn: true, spread: FleetMember.spread), start + gate)
        ]
        while true {
            let (event, moment): (TellingEvent, Boottime)
            if let next = events.popLast() {
                (event, moment) = next
            } else if let wake = wakeAt {
                (event, moment) = (.woke, wake)
                wakeAt = nil
            } else {
                return puts
            }
            guard moment - start <= last else { return puts }
            for effect in member.telling.handle(event, at: moment) {
                switch effect {
                case .sleep(let next): wakeAt = next
                case .checkSettled: events.append((.settledChecked(isSettled: true), moment))
                case .send:
                    puts.append(moment + Self.latency - start)
                    events.append((.delivered, moment + Self.latency))
                case .cancel: break
                }
            }
        }
    }
}
