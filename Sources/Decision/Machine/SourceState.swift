import CivilTime
import JSON

/// What the machine knows of one source.
struct SourceState: Hashable, Sendable {
    let name: SourceName
    /// What a key is worth that an answer does not hold.
    var defaults: JSON.Object
    /// How long one fetch may take.
    var timeout: Duration
    var schedule: Schedule
    /// The answers that some switch still rests on, newest first. More than one only while a switch
    /// cannot read the newest.
    var answers: [NumberedAnswer] = []
    /// Whether the newest answer was confirmed by the source since the start, and when.
    var confirmation: Confirmation
    /// The fetch under way, or when the next one is due.
    var activity: Activity
    /// Why changes are seen at the polls alone.
    var watchProblem: String?
    /// What is strange about its flags, as it was said.
    var doubts: Set<String> = []
    /// The last failure that was announced, so that a repeat is not.
    var announcedFailure: Failure?
    /// How the last fetch since the start ended; nil before the first has.
    var hasSucceeded: Bool?
}

/// An answer with a number of its own, by which switches refer to it.
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
}

enum Confirmation: Hashable, Sendable {
    case never
    /// Before this start. Only the wall clock can tell how long ago.
    case earlier(Instant)
    case now(Boottime)

    func age(at now: Now) -> Duration {
        switch self {
        case .never: .zero
        case .earlier(let instant): max(.zero, now.wall - instant)
        case .now(let moment): now.boot - moment
        }
    }

    /// The same by the wall clock; nil where it never was.
    func instant(at now: Now) -> Instant? {
        switch self {
        case .never: nil
        case .earlier(let instant): instant
        case .now(let moment): now.wall - (now.boot - moment)
        }
    }

    /// The same, as after a start.
    func earlier(at now: Now) -> Confirmation {
        instant(at: now).map { .earlier($0) } ?? .never
    }
}

enum Activity: Hashable, Sendable {
    /// Until its time limit at the latest. `isHinted`: the source changed meanwhile, so it is fetched
    /// again at once.
    case fetching(isHinted: Bool, limit: Boottime)
    case waiting(until: Boottime)
}
