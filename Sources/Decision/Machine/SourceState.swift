import CivilTime
import JSON

/// The state of one source: the time of its next fetch, its outcomes and its answers.
///
/// It knows the switches that read it. `SwitchState` interprets the answers.
struct SourceState: Hashable, Sendable {
    let name: SourceName
    /// The switches that read it, in the order of the services.
    let readers: [SwitchPosition]
    /// The answers on which a switch or a value rests, newest first. More than one answer only
    /// while a switch cannot read the newest, or flags are staged.
    private(set) var answers: [NumberedAnswer] = []
    /// When the source last gave or confirmed the newest answer.
    private(set) var confirmation = Confirmation.never
    /// Why the last fetch failed; nil after a good one.
    private(set) var failure: Failure?
    /// The usual time between two fetches.
    var interval: Duration { schedule.interval }

    /// The values of keys that an answer does not hold.
    private var defaults: JSON.Object
    /// How long one fetch may take.
    private var timeout: Duration
    private var schedule: Schedule
    private var activity: Activity
    /// Why changes are seen at polls only; nil if the source is watched.
    private var watchProblem: String?
    /// The present warnings about its flags that were announced.
    private var warnings: Set<String> = []
    /// How many answers were numbered.
    private var numbered = 0

    private enum Activity: Hashable {
        /// No fetch is in flight, and the next is due at `until`. Left for `fetching` at that time;
        /// a hint makes the fetch due at once.
        case waiting(until: Boottime)
        /// A fetch is in flight, until `limit` at the latest. Left for `waiting` when the fetch
        /// ends, or when a reload replaces the object that fetches. `isHinted`: a hint came
        /// meanwhile, so the source is fetched again at once.
        case fetching(isHinted: Bool, limit: Boottime)
    }

    /// A source without answers that is due at once.
    init(plan: SourcePlan, readers: [SwitchPosition], at now: Now) {
        name = plan.name
        self.readers = readers
        defaults = plan.defaults
        timeout = plan.timeout
        schedule = Schedule(interval: plan.interval)
        activity = .waiting(until: now.boot)
    }

    // MARK: - Fetches

    /// When the next fetch is due; nil while one is in flight.
    var nextFetch: Boottime? {
        if case .waiting(let moment) = activity { moment } else { nil }
    }

    /// Begins a fetch if it is due. True if it is in flight now.
    mutating func beginFetch(at now: Now) -> Bool {
        guard case .waiting(let moment) = activity, moment <= now.boot else { return false }
        activity = .fetching(isHinted: false, limit: now.boot + timeout)
        return true
    }

    /// Makes a fetch due at once, or as soon as the fetch in flight ends.
    mutating func hint(at now: Now) {
        switch activity {
        case .fetching(_, let limit): activity = .fetching(isHinted: true, limit: limit)
        case .waiting: activity = .waiting(until: now.boot)
        }
    }

    /// Notes that the fetch in flight brought or confirmed flags. True if the fetch before had
    /// failed. Call `rest` afterwards, once the services are decided.
    mutating func succeed() -> Bool {
        defer { failure = nil }
        return failure != nil
    }

    /// Ends a good fetch. The next one is due after the interval, or after `pace` in its place.
    mutating func rest(pace: Duration?, at now: Now, using random: inout SeededRandom) {
        rest(for: schedule.succeeded(pace: pace, using: &random), at: now)
    }

    /// Ends a failed fetch. Returns the wait until the next, and whether the failure is another
    /// than that of the fetch before.
    mutating func fail(
        _ failure: Failure, at now: Now, using random: inout SeededRandom
    ) -> (wait: Duration, isNew: Bool) {
        let wait = schedule.failed(failure, using: &random)
        let isNew = self.failure?.detail != failure.detail
        self.failure = failure
        if failure.retryAfter != nil {
            // Retry-After counts even if a hint came meanwhile.
            activity = .waiting(until: now.boot + wait)
        } else {
            rest(for: wait, at: now)
        }
        return (wait, isNew)
    }

    /// Whether the fetch in flight is inside its time limit, or the next one has a wake-up ahead.
    func isProgressing(at now: Now, wakeUp: Boottime?, tolerance: Duration) -> Bool {
        switch activity {
        case .fetching(_, let limit):
            return now.boot <= limit + tolerance
        case .waiting(let moment):
            guard let wakeUp, wakeUp <= moment else { return false }
            return now.boot <= moment + tolerance
        }
    }

    private mutating func rest(for wait: Duration, at now: Now) {
        if case .fetching(isHinted: true, _) = activity {
            activity = .waiting(until: now.boot)
        } else {
            activity = .waiting(until: now.boot + wait)
        }
    }

    // MARK: - Answers

    /// Numbers a new answer.
    mutating func number(_ answer: Answer) -> NumberedAnswer {
        numbered += 1
        return NumberedAnswer(number: numbered, answer: answer, defaults: defaults)
    }

    /// Takes the validators of an answer with the same bytes as the newest answer. True if the
    /// bytes are the same. The validators are not stored: an ETag that changes at every poll must
    /// not cause a write at every poll.
    mutating func repeats(_ answer: Answer) -> Bool {
        guard let newest = answers.first, newest.answer.body == answer.body else { return false }
        answers[0].answer.validators = answer.validators
        return true
    }

    /// Makes the newest answer this source's own, if it was inherited. Returns it then, else nil.
    mutating func disinherit(_ answer: Answer) -> NumberedAnswer? {
        guard answers[0].answer.isInherited else { return nil }
        answers[0].answer = answer
        return answers[0]
    }

    /// Puts a new answer before the others. Returns the keys with a default that the answer before
    /// held and this one lacks. A switch that needs a key without a default reports an invalid
    /// flag.
    mutating func keep(_ answer: NumberedAnswer, at now: Now) -> [String] {
        var vanished: [String] = []
        if let before = answers.first?.answer {
            if !before.isInherited {
                vanished = defaults.map(\.key).filter {
                    before.flags[$0] != nil && answer.answer.flags[$0] == nil
                }
            }
            answers[0].answer.confirmedAt = confirmation.instant(at: now)
        }
        answers.insert(answer, at: 0)
        confirm(at: now)
        return vanished
    }

    /// Notes that the source has confirmed the newest answer.
    mutating func confirm(at now: Now) {
        confirmation = .now(now.boot)
    }

    /// Restores the answers that an earlier run stored.
    mutating func restore(_ stored: Memory.StoredFlags) {
        answers = stored.answers.map { number($0) }
        confirmation = .earlier(stored.confirmedAt)
    }

    /// Drops every answer, by an operator's order.
    mutating func forget() {
        answers = []
        confirmation = .never
    }

    /// Drops the answers on which no switch and no value rests.
    mutating func dropAnswers(except used: Set<Int>) {
        answers.removeAll { !used.contains($0.number) }
    }

    // MARK: - Problems

    /// Notes why the source cannot be watched, nil if it is watched. True for a new problem.
    mutating func note(watchProblem problem: String?) -> Bool {
        defer { watchProblem = problem }
        return problem != nil && problem != watchProblem
    }

    /// Notes the present warnings about its flags. Returns the new ones: each is announced once
    /// while it lasts.
    mutating func note(warnings now: [String]) -> [String] {
        let new = now.filter { warnings.insert($0).inserted }
        warnings.formIntersection(now)
        return new
    }

    // MARK: - Reload

    /// The same source under another plan, with the change for its switches.
    func continued(
        _ plan: SourcePlan, readers: [SwitchPosition], _ replacement: Replacement?, at now: Now
    ) -> (state: SourceState, change: SourceChange) {
        var state = SourceState(plan: plan, readers: readers, at: now)
        state.numbered = numbered
        state.confirmation = confirmation
        state.answers = answers
        let hasOtherDefaults = plan.defaults != defaults
        if hasOtherDefaults {
            state.answers = answers.map {
                NumberedAnswer(number: $0.number, answer: $0.answer, defaults: plan.defaults)
            }
        }
        if replacement == .otherAddress {
            // Failures, schedule and warnings belong to the earlier address; the flags alone stay.
            for index in state.answers.indices { state.answers[index].answer.inherit() }
            state.confirmation = confirmation.earlier(at: now)
        } else {
            state.schedule = schedule
            state.schedule.interval = plan.interval
            state.activity = activity
            state.failure = failure
            state.watchProblem = watchProblem
            state.warnings = warnings
            if plan.interval != schedule.interval { state.hasten(to: now.boot + plan.interval) }
            if replacement == .sameAddress { state.beginAnew(at: now) }
        }
        let change = SourceChange(
            answers: state.answers, confirmation: state.confirmation,
            hasOtherAddress: replacement == .otherAddress, hasOtherDefaults: hasOtherDefaults)
        return (state, change)
    }

    /// Makes a fetch due at `moment` at the latest, unless a Retry-After is in force.
    private mutating func hasten(to moment: Boottime) {
        guard case .waiting(let due) = activity, failure?.retryAfter == nil else { return }
        activity = .waiting(until: min(due, moment))
    }

    /// Takes in that another object fetches the source: no fetch is in flight, and one is due at
    /// once.
    private mutating func beginAnew(at now: Now) {
        watchProblem = nil
        if case .fetching = activity { activity = .waiting(until: now.boot) }
        hasten(to: now.boot)
    }
}

/// One switch of one service, by their positions in the plan.
struct SwitchPosition: Hashable, Sendable {
    let service: Int
    let position: Int
}

/// An answer with the number by which the switches and values of a source refer to it.
struct NumberedAnswer: Hashable, Sendable {
    let number: Int
    var answer: Answer
    /// Its flags, with the source's defaults for keys that it lacks.
    let flags: JSON.Object

    /// Completes the flags of `answer` by `defaults`.
    init(number: Int, answer: Answer, defaults: JSON.Object) {
        self.number = number
        self.answer = answer
        var flags = answer.flags
        for (key, value) in defaults where flags[key] == nil { flags[key] = value }
        self.flags = flags
    }

    /// The reading of the answer by a format, or the flag that cannot be read.
    func read(by format: Format, in zone: Zone) -> Result<Reading, InvalidFlag> {
        do {
            return .success(try format.read(flags, in: zone))
        } catch {
            return .failure(error)
        }
    }
}
