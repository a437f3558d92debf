import CivilTime
import Reports

/// A `Telling` in virtual time, a host whose state is a letter, and a sink. It prints a line for each thing that
/// happens, with the seconds since the start.
struct TellingWorld {
    /// What the sink does with a report that it gets at this time.
    enum Answer {
        case accepts(after: Duration = .zero)
        case refuses(retryAfter: Duration? = nil, isDenied: Bool = false)
        /// It takes what comes with a login.
        case wantsLogin
        /// Nothing comes until the time limit of 30 s.
        case isSilent

        /// The time until the machine hears of it.
        var time: Duration {
            switch self {
            case .accepts(let time): time
            case .refuses, .wantsLogin: .zero
            case .isSilent: .seconds(30)
            }
        }
    }

    private(set) var lines: [String] = []
    private(set) var taken: [String] = []
    private(set) var attempts = 0
    /// How often the machine has asked whether all is settled.
    private(set) var looks = 0
    /// How often a report was made and not sent.
    private(set) var unsent = 0
    /// The seconds of the attempts, and whether each may log in.
    private(set) var tries: [(second: Int64, mayLogIn: Bool)] = []
    private var machine: Telling
    private var wakeAt: Boottime?
    private var inFlight: (state: String, endsAt: Boottime, answer: Answer, mayLogIn: Bool)?
    private var now = Boottime(microseconds: 0)
    private var state = "a"
    private var isSettled = true
    private let sink: (Int64) -> Answer

    init(
        seed: UInt64 = 1, spread: Duration = .zero,
        sink: @escaping (Int64) -> Answer = { _ in .accepts() }
    ) {
        machine = Telling(seed: seed)
        self.sink = sink
        handle(.configured(isOn: true, spread: spread))
    }

    /// The host has another state from this second on. Units may be on their way.
    mutating func at(_ seconds: Int64, becomes state: String, isSettled: Bool = true) {
        run(until: seconds)
        self.state = state
        self.isSettled = isSettled
        lines.append("\(seconds) \(state)\(isSettled ? "" : ", units are on their way")")
        handle(.changed)
    }

    mutating func at(_ seconds: Int64, _ event: TellingEvent) {
        run(until: seconds)
        handle(event)
    }

    mutating func run(until seconds: Int64) {
        let end = Boottime(microseconds: seconds * 1_000_000)
        while let next = [wakeAt, inFlight?.endsAt].compactMap(\.self).min(), next <= end {
            now = max(now, next)
            if let sent = inFlight, sent.endsAt <= now {
                inFlight = nil
                finish(sent.state, sent.answer, sent.mayLogIn)
            } else {
                wakeAt = nil
                handle(.woke)
            }
        }
        now = end
    }

    private var second: Int64 { now.microseconds / 1_000_000 }

    private mutating func handle(_ event: TellingEvent) {
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .checkSettled:
                looks += 1
                handle(.settledChecked(isSettled: isSettled))
            case .send(let ifChanged, let mayLogIn):
                if ifChanged, state == taken.last {
                    unsent += 1
                    handle(.unchanged)
                    continue
                }
                attempts += 1
                let answer = sink(second)
                tries.append((second, mayLogIn))
                inFlight = (state, now + answer.time, answer, mayLogIn)
            case .cancel: inFlight = nil
            case .sleep(let moment): wakeAt = moment
            }
        }
    }

    private mutating func finish(_ state: String, _ answer: Answer, _ mayLogIn: Bool) {
        switch answer {
        case .wantsLogin where !mayLogIn:
            lines.append("\(second) the sink wants a login for \(state)")
            handle(.loginNeeded)
        case .accepts, .wantsLogin:
            taken.append(state)
            lines.append("\(second) the sink knows \(state)")
            handle(.delivered)
        case .refuses(let retryAfter, let isDenied):
            lines.append("\(second) the sink does not take \(state)")
            handle(.failed(retryAfter: retryAfter, isRefused: isDenied))
        case .isSilent:
            lines.append("\(second) the sink did not answer to \(state)")
            handle(.failed(retryAfter: nil, isRefused: false))
        }
    }
}
