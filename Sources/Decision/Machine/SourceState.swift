import CivilTime
import JSON

/// What the machine knows of one source: when it is fetched, how its fetches go, and its answers.
///
/// It knows which switches read it, and not what they make of its answers.
struct SourceState: Hashable, Sendable {
    let name: SourceName
    /// The switches that read it, in the order of the services.
    let readers: [SwitchPosition]
    /// The answers that some switch rests on, newest first. More than one only while a switch cannot
    /// read the newest, or waits for the next start.
    private(set) var answers: [NumberedAnswer] = []
    /// When the source last gave or confirmed the newest answer.
    private(set) var confirmation = Confirmation.never
    /// Why the last fetch failed; nil after a good one.
    private(set) var failure: Failure?
    /// The usual time between two fetches.
    var interval: Duration { schedule.interval }

    /// What a key is worth that an answer does not hold.
    private var defaults: JSON.Object
    /// How long one fetch may take.
    private var timeout: Duration
    private var schedule: Schedule
    private var activity: Activity
    /// Why changes are seen at the polls alone.
    private var watchProblem: String?
    /// What is strange about its flags, as it was said.
    private var doubts: Set<String> = []
    /// How many answers were numbered.
    private var numbered = 0

    private enum Activity: Hashable {
        /// No fetch is in flight, and the next one is due then. Left for `fetching` when that time has
        /// come; a hint makes it come at once.
        case waiting(until: Boottime)
        /// A fetch is in flight, until its time limit at the latest. Left for `waiting` when it ends,
        /// or when a reload puts another object in the place of the one that fetches. `isHinted`: the
        /// source changed meanwhile, so it is fetched again at once.
        case fetching(isHinted: Bool, limit: Boottime)
    }

    /// A source that is due at once, and of which nothing is known.
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

    /// Whether a fetch is due. It is in flight then.
    mutating func beginFetch(at now: Now) -> Bool {
        guard case .waiting(let moment) = activity, moment <= now.boot else { return false }
        activity = .fetching(isHinted: false, limit: now.boot + timeout)
        return true
    }

    /// Makes a fetch due at once, or again at once when the one in flight has ended.
    mutating func hint(at now: Now) {
        switch activity {
        case .fetching(_, let limit): activity = .fetching(isHinted: true, limit: limit)
        case .waiting: activity = .waiting(until: now.boot)
        }
    }

    /// Notes that the fetch in flight brought flags, or confirmed them. True where the one before had
    /// failed. `rest` has to follow, once the services are decided.
    mutating func succeed() -> Bool {
        defer { failure = nil }
        return failure != nil
    }

    /// Ends a good fetch. The next one is due after the interval, or after `pace` in its place.
    mutating func rest(pace: Duration?, at now: Now, using random: inout SeededRandom) {
        rest(for: schedule.succeeded(pace: pace, using: &random), at: now)
    }

    /// Ends a failed fetch. Gives how long the source is left alone, and whether that failure is
    /// another one than that of the fetch before.
    mutating func fail(
        _ failure: Failure, at now: Now, using random: inout SeededRandom
    ) -> (wait: Duration, isNew: Bool) {
        let wait = schedule.failed(failure, using: &random)
        let isNew = self.failure?.detail != failure.detail
        self.failure = failure
        if failure.retryAfter != nil {
            // A source that asks to be left alone is, even if it hinted meanwhile.
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

    /// The number that refers to this answer from now on.
    mutating func number(_ answer: Answer) -> NumberedAnswer {
        numbered += 1
        return NumberedAnswer(number: numbered, answer: answer, defaults: defaults)
    }

    /// Takes the validators of an answer that has the same bytes as the newest one; true where it has.
    /// They are not stored: an ETag that is new each time must not write to disk each time.
    mutating func repeats(_ answer: Answer) -> Bool {
        guard let newest = answers.first, newest.answer.body == answer.body else { return false }
        answers[0].answer.validators = answer.validators
        return true
    }

    /// Makes the newest answer this source's own, if it was inherited from another address.
    mutating func disinherit(_ answer: Answer) -> NumberedAnswer? {
        guard answers[0].answer.isInherited else { return nil }
        answers[0].answer = answer
        return answers[0]
    }

    /// Puts a new answer before the others. Gives the keys that it lacks and the one before held,
    /// where a default takes their place. A key that is gone without a default is an invalid flag, and
    /// whoever needs it says so.
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

    /// Takes back the answers that an earlier run stored.
    mutating func restore(_ stored: Memory.Kept) {
        answers = stored.answers.map { number($0) }
        confirmation = .earlier(stored.confirmedAt)
    }

    /// Drops every answer, by an operator's order.
    mutating func forget() {
        answers = []
        confirmation = .never
    }

    /// Drops the answers that no switch and no value rests on.
    mutating func dropAnswers(except used: Set<Int>) {
        answers.removeAll { !used.contains($0.number) }
    }

    // MARK: - Trouble

    /// Notes what keeps the source from being watched, nil when nothing does. True where that is new.
    mutating func note(watchProblem problem: String?) -> Bool {
        defer { watchProblem = problem }
        return problem != nil && problem != watchProblem
    }

    /// Notes what is strange about its flags. Gives what is new: each is said once while it lasts.
    mutating func note(doubts now: [String]) -> [String] {
        let new = now.filter { doubts.insert($0).inserted }
        doubts.formIntersection(now)
        return new
    }

    // MARK: - Reload

    /// The same source under another plan, with the difference that this makes to its readers.
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
            // How the other address behaved says nothing about this one: the flags alone stay.
            for index in state.answers.indices { state.answers[index].answer.inherit() }
            state.confirmation = confirmation.earlier(at: now)
        } else {
            state.schedule = schedule
            state.schedule.interval = plan.interval
            state.activity = activity
            state.failure = failure
            state.watchProblem = watchProblem
            state.doubts = doubts
            if plan.interval != schedule.interval { state.hasten(to: now.boot + plan.interval) }
            if replacement == .sameAddress { state.beginAnew(at: now) }
        }
        let change = SourceChange(
            answers: state.answers, confirmation: state.confirmation,
            hasOtherAddress: replacement == .otherAddress, hasOtherDefaults: hasOtherDefaults)
        return (state, change)
    }

    /// Makes a fetch due at `moment` at the latest, unless the source asked to be left alone.
    private mutating func hasten(to moment: Boottime) {
        guard case .waiting(let due) = activity, failure?.retryAfter == nil else { return }
        activity = .waiting(until: min(due, moment))
    }

    /// Is fetched by another object, which has no fetch in flight and watches by itself.
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

/// An answer with a number, by which the switches and values of a source refer to it.
struct NumberedAnswer: Hashable, Sendable {
    let number: Int
    var answer: Answer
    /// Its flags, with the source's defaults where it holds none.
    let flags: JSON.Object

    init(number: Int, answer: Answer, defaults: JSON.Object) {
        self.number = number
        self.answer = answer
        var flags = answer.flags
        for (key, value) in defaults where flags[key] == nil { flags[key] = value }
        self.flags = flags
    }

    /// What the answer says to a switch of this format.
    func read(by format: Format, in zone: Zone) -> Result<Reading, InvalidFlag> {
        do {
            return .success(try format.read(flags, in: zone))
        } catch {
            return .failure(error)
        }
    }
}
