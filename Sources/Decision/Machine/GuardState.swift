import CivilTime

/// What a guard has answered before a step.
package enum GuardAnswer: Hashable, Sendable {
    /// The step may come.
    case passes
    /// The step is held. The cause is a clause about the guard: it says no, or it has not answered as it should.
    case holds(String)
}

/// The answer of a guard that holds a step.
package struct GuardHold: Hashable, Sendable {
    package let name: GuardName
    /// Why it does not pass, as a clause about the guard.
    package let cause: String

    /// How long after an answer that holds a step the guard is asked again, before jitter.
    package static let pause: Duration = .seconds(30)

    /// The hold of this guard.
    package init(name: GuardName, cause: String) {
        self.name = name
        self.cause = cause
    }
}

/// What one guard has answered, and when it is asked next.
struct GuardState: Sendable {
    /// The next question.
    private enum Question {
        /// No step waits. Left for `due` when one does.
        case none
        /// Left for `asked` when its time has come and a step still waits.
        case due(Boottime)
        /// In flight. Left for `none` by an answer that passes, and for `due` by one that does not. One that has not
        /// come by this time is lost, and the question is asked again.
        case asked(Boottime)
    }

    private var question = Question.none
    private(set) var answer: GuardAnswer?
    /// When it came by both clocks; nil if it is no more than what is told until the next one.
    private var answeredAt: Now?

    /// How long an answer counts.
    private static let shared: Duration = .seconds(5)
    /// All hosts of a step find it due in the same second: each asks within this time.
    private static let spread: Duration = .seconds(2)
    /// Longer than any time limit of a question.
    private static let lost: Duration = .seconds(60)
    /// How long after its last answer monitoring is told of it.
    private static let shown: Duration = .seconds(900)

    /// Whether the answer still counts.
    func isShared(at now: Boottime) -> Bool {
        answeredAt.map { now - $0.boot < Self.shared } ?? false
    }

    /// Why it holds a step that is due since then; nil if it has not answered since.
    func cause(forStepDue since: Boottime) -> String? {
        guard case .holds(let cause) = answer else { return nil }
        if let answeredAt, answeredAt.boot + Self.shared <= since { return nil }
        return cause
    }

    /// A step that was not due before needs an answer.
    mutating func request(at now: Boottime, using random: inout some RandomNumberGenerator) {
        let soon = now + Self.spread.scaled(by: Double.random(in: 0...1, using: &random))
        switch question {
        case .due(let time) where time > now: question = .due(min(time, soon))
        case .none, .due: question = .due(soon)
        case .asked: break
        }
    }

    /// When the guard is asked next, or its answer is lost; and whether it has to be asked now.
    mutating func nextQuestion(
        at now: Boottime, using random: inout some RandomNumberGenerator
    ) -> (Boottime, asksNow: Bool) {
        if case .none = question { request(at: now, using: &random) }
        switch question {
        case .none: return (now, false)
        case .due(let time) where time > now: return (time, false)
        case .asked(let end) where end > now: return (end, false)
        case .due, .asked:
            let end = now + Self.lost
            question = .asked(end)
            return (end, true)
        }
    }

    /// Takes an answer; false for one that nobody has asked for.
    mutating func answered(
        _ answer: GuardAnswer, at now: Now, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard case .asked = question else { return false }
        (self.answer, answeredAt) = (answer, now)
        let pause = GuardHold.pause.scaled(by: Double.random(in: 0.8...1.2, using: &random))
        question = answer == .passes ? .none : .due(now.boot + pause)
        return true
    }

    /// The same guard after a reload, which may ask another question.
    func reconfigured() -> GuardState {
        var state = GuardState()
        if answer != .passes { state.answer = answer }
        return state
    }

    func view(of name: GuardName, _ services: [ServiceName], at now: Now) -> Overview.GuardView? {
        guard let answer else { return nil }
        let age = answeredAt.map { now.boot - $0.boot }
        guard !services.isEmpty || age.map({ $0 < Self.shown }) ?? false else { return nil }
        var next: Duration?
        if case .due(let time) = question { next = max(.zero, time - now.boot) }
        return Overview.GuardView(
            name: name, answer: answer, age: age, next: services.isEmpty ? nil : next,
            services: services)
    }
}
