import CivilTime
import Decision
import FlagSources
import Support

/// The machine of a stream, to which transcripts are played. Times are seconds.
///
/// The head of a transcript may say after how many seconds of `silence` a stream is given up; without it, 100. The
/// wake-ups are not in the text, because the waits are random: `wakes?` and `wakes within 1s?` ask for the next.
struct TranscribedStream: TranscribedWorld {
    private(set) var machine: StreamMachine
    /// The next wake-up of the machine, in seconds.
    private(set) var wakesAt: Double?

    init(
        silence: Duration = .seconds(100), interval: Duration = .seconds(60),
        hints: HintRate = .usual, seed: UInt64 = 1
    ) {
        let policy = StreamPolicy(
            opening: .seconds(30), silence: silence, firstWait: .seconds(1),
            longestWait: .seconds(300), hints: hints)
        machine = StreamMachine(policy, interval: interval, seed: seed)
    }

    init(head text: String) throws {
        let head = try HeadLines(text, keys: ["silence"])
        self.init(silence: .seconds(try head.value("silence", Int.init) ?? 100))
    }

    /// The stream after the start at second 0.
    func started() -> TranscribedStream {
        var stream = self
        stream.at(0, .started)
        return stream
    }

    @discardableResult mutating func at(_ seconds: Double, _ event: StreamEvent) -> [StreamEffect] {
        let now = Boottime(microseconds: Int64((seconds * 1_000_000).rounded()))
        let effects = machine.handle(event, at: now)
        for case .sleep(let moment) in effects {
            wakesAt = moment.map { Double($0.microseconds) / 1_000_000 }
        }
        return effects
    }

    /// Wakes the machine at its next wake-up.
    @discardableResult mutating func wakeUp() -> [StreamEffect] {
        wakesAt.map { at($0, .woke) } ?? []
    }

    mutating func play(_ line: String, at seconds: Double) throws -> [String] {
        if line == "wakes?" { return [wakesAt.map { "at \(secondsText($0))" } ?? "never"] }
        if let parts = line.wholeMatch(of: /wakes within ([0-9.]+)s\?/), let wait = Double(parts.1)
        {
            return [wakesAt.map { (seconds...seconds + wait).contains($0) } == true ? "yes" : "no"]
        }
        return at(seconds, try StreamEvent(line: line)).compactMap(Self.text)
    }

    private static func text(of effect: StreamEffect) -> String? {
        switch effect {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .hint: "hint"
        case .setProblem(let problem): "set problem \(problem ?? "nil")"
        case .sleep: nil
        }
    }
}

/// How a transcript writes an event: `received 10 bytes, a hint`.
extension StreamEvent {
    /// The event of this line.
    init(line: String) throws {
        let plain: [String: StreamEvent] = [
            "started": .started, "opened": .opened, "closed": .closed, "woke": .woke,
            "poll failed": .pollFailed, "poll succeeded": .pollSucceeded,
        ]
        let received = /received (\d+) bytes(, a hint)?(?:, retry after (\d+)s)?(?:, over, (.+))?/
        if let event = plain[line] {
            self = event
        } else if let parts = line.wholeMatch(of: /failed, (.+)/) {
            self = .failed(try Failure(text: parts.1))
        } else if let parts = line.wholeMatch(of: /lost, (.+)/) {
            self = .lost(try Failure(text: parts.1))
        } else if let parts = line.wholeMatch(of: /retry later, in (\d+)s/), let wait = Int(parts.1)
        {
            self = .retryLater(.seconds(wait))
        } else if let parts = line.wholeMatch(of: received) {
            var update = StreamUpdate()
            update.bytes = Int(parts.1) ?? 0
            update.isHint = parts.2 != nil
            update.retryAfter = parts.3.flatMap { Int($0) }.map { .seconds($0) }
            update.failure = try parts.4.map { try Failure(text: $0) }
            self = .received(update)
        } else {
            throw TestFailure("'\(line)' is no event")
        }
    }
}

extension Failure {
    /// `unreachable, retry after 200s: the server answers 503`.
    fileprivate init(text: Substring) throws {
        let pattern = /(unreachable|refused)(?:, retry after (\d+)s)?: (.+)/
        guard let parts = text.wholeMatch(of: pattern) else {
            throw TestFailure("'\(text)' is no failure")
        }
        self.init(
            parts.1 == "refused" ? .refused : .unreachable, String(parts.3),
            retryAfter: parts.2.flatMap { Int($0) }.map { .seconds($0) })
    }
}
