import CivilTime
import EventLoop
import Files

/// A call that waits for its reply: how long already, and what the daemon's process does by proc(5).
package struct WaitingCall: Hashable, Sendable {
    /// The process of the daemon; nil if it is in another container.
    package let process: Int32?
    package var time: Duration { now - began }
    /// The state of the process: a letter of proc(5); nil if that is not known.
    private var state: Character?
    private let began: Boottime
    private var answeredAt: Boottime
    private var now: Boottime

    /// A call that begins to wait for this process.
    init(for process: Int32?) {
        self.process = process.flatMap { $0 > 0 ? $0 : nil }
        began = EventLoop.bootClock
        (answeredAt, now) = (began, began)
    }

    /// Looks at the clock and at the process.
    mutating func update() {
        now = EventLoop.bootClock
        state = process.flatMap(Self.state)
    }

    /// The daemon has answered another call.
    mutating func markAnswer() { answeredAt = EventLoop.bootClock }

    /// Whether the daemon was not heard for so long.
    func isSilent(for limit: Duration) -> Bool { now - answeredAt >= limit }

    /// How long to wait before the next look: a second, or until the limit.
    func untilNextUpdate(_ timeLimit: Duration?) -> Duration {
        let rest = timeLimit.map { $0 - (EventLoop.bootClock - began) } ?? .seconds(1)
        return max(.zero, min(.seconds(1), rest))
    }

    /// Whether a signal or a debugger has stopped the process: it cannot go on by itself.
    package var isStopped: Bool { state == "T" || state == "t" }

    /// Names the process and what it does: `process 812 is stopped`.
    package var processWords: String {
        guard let process else { return "its process is not visible here" }
        return switch state {
        case "T": "process \(process) is stopped"
        case "t": "process \(process) is stopped by a debugger"
        case "D": "process \(process) waits for a disk"
        case "Z", "X": "process \(process) has ended"
        case "R", "S", "I": "process \(process) runs"
        case .some, nil: "process \(process)"
        }
    }

    /// What to do about a process that does not answer.
    var advice: String {
        guard let process, state == "T" else { return "see 'systemctl status killswitchd'" }
        return "to let it go on, type 'kill -CONT \(process)'"
    }

    /// The third field of `/proc/PID/stat`: the second may hold spaces and parentheses.
    private static func state(of process: Int32) -> Character? {
        let bytes = readable { try File.read("/proc/\(process)/stat", limit: 4096) } ?? []
        let text = String(decoding: bytes, as: UTF8.self)
        return text.lastIndex(of: ")").flatMap { text[$0...].dropFirst(2).first }
    }
}
