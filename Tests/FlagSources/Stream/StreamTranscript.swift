import CivilTime
import Decision
import FlagSources
import Testing

/// Sends events to the machine of a stream and writes down its effects, a line each. Times are seconds.
/// The wake-ups are not in the text, because the waits are random.
struct StreamTranscript {
    private(set) var text = ""
    private(set) var machine: StreamMachine
    private var wake: Boottime?

    init(
        silence: Duration = .seconds(100), interval: Duration = .seconds(60),
        hints: HintRate = .usual, seed: UInt64 = 1
    ) {
        let policy = StreamPolicy(
            opening: .seconds(30), silence: silence, firstWait: .seconds(1),
            longestWait: .seconds(300), hints: hints)
        machine = StreamMachine(policy, interval: interval, seed: seed)
    }

    /// The transcript of a stream that was started and has opened at this time. The effects of that are
    /// checked here and are not in the text.
    static func opened(
        at seconds: Double = 1, silence: Duration = .seconds(100),
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> StreamTranscript {
        var stream = StreamTranscript(silence: silence).started()
        stream.at(seconds, .opened)
        #expect(
            stream.text == """
                0s started
                    connect
                \(number(seconds)) opened
                    hint

                """, sourceLocation: sourceLocation)
        stream.text = ""
        return stream
    }

    /// The transcript after the start at second 0, which is in the text.
    func started() -> StreamTranscript {
        var stream = self
        stream.at(0, .started)
        return stream
    }

    func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text == expected + "\n", sourceLocation: sourceLocation)
    }

    /// The next wake-up of the machine, in seconds.
    var wakesAt: Double? { wake.map { Double($0.microseconds) / 1_000_000 } }

    @discardableResult mutating func at(_ seconds: Double, _ event: StreamEvent) -> [StreamEffect] {
        text += "\(Self.number(seconds)) \(Self.line(event))\n"
        return handle(event, at: Boottime(microseconds: Int64(seconds * 1_000_000)))
    }

    /// Wakes the machine at its next wake-up. The time of that is not in the text.
    @discardableResult mutating func wakeUp() -> [StreamEffect] {
        guard let wake else { return [] }
        text += "woken\n"
        return handle(.woke, at: wake)
    }

    private mutating func handle(_ event: StreamEvent, at now: Boottime) -> [StreamEffect] {
        let effects = machine.handle(event, at: now)
        for effect in effects {
            if case .sleep(let moment) = effect {
                wake = moment
            } else {
                text += "    \(Self.line(effect))\n"
            }
        }
        return effects
    }

    private static func number(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds))s" : "\(seconds)s"
    }

    private static func line(_ event: StreamEvent) -> String {
        switch event {
        case .started: "started"
        case .opened: "opened"
        case .received(let update):
            "received \(update.bytes) bytes" + (update.isHint ? ", a hint" : "")
                + (update.retryAfter.map { ", retry after \($0)" } ?? "")
                + (update.failure.map { ", over: \($0.detail)" } ?? "")
        case .closed: "closed"
        case .failed(let failure): "failed: \(failure.detail)"
        case .lost(let failure): "lost: \(failure.detail)"
        case .pollFailed: "poll failed"
        case .pollSucceeded: "poll succeeded"
        case .retryLater(let wait): "retry later, in \(wait)"
        case .woke: "woke"
        }
    }

    private static func line(_ effect: StreamEffect) -> String {
        switch effect {
        case .connect: "connect"
        case .disconnect: "disconnect"
        case .hint: "hint"
        case .setProblem(let problem): "set problem \(problem ?? "nil")"
        case .sleep: "sleep"
        }
    }
}

extension StreamParser {
    /// The news in the whole of a stream that comes in parts of this size.
    mutating func update(from bytes: [UInt8], inPartsOf size: Int) -> StreamUpdate {
        var update = StreamUpdate()
        for start in stride(from: 0, to: bytes.count, by: size) {
            parse(Array(bytes[start...].prefix(size)), &update)
        }
        finish(&update)
        return update
    }
}

extension StreamUpdate {
    static func bytes(_ count: Int) -> StreamUpdate { made { $0.bytes = count } }

    static var hint: StreamUpdate { made { $0.isHint = true } }

    static func over(_ failure: Failure) -> StreamUpdate { made { $0.failure = failure } }

    static func retry(after wait: Duration) -> StreamUpdate { made { $0.retryAfter = wait } }

    private static func made(_ change: (inout StreamUpdate) -> Void) -> StreamUpdate {
        var update = StreamUpdate()
        update.bytes = 10
        change(&update)
        return update
    }
}
