/// Why a verdict is what it is. Each has one slug for programs and one sentence for people.
package enum Reason: Hashable, Sendable {
    case starting
    case awaitingFirstAnswer(SourceName)
    case flags(SourceName)
    case storedFlags(SourceName)
    case invalidAnswer(SourceName, InvalidFlag)
    case endPassed(SourceName)
    case endUnreadable(SourceName, String)
    case stale(SourceName, WhenStale)
    case unknown(SourceName, Gate)
    case clockNotBelieved(SourceName)
    case minClosed(SourceName)
}

extension Reason {
    /// The word in state.json and in the journal. `meaning` is what the man page says of it.
    package enum Slug: String, CaseIterable, Sendable {
        case starting
        case awaitingFirstAnswer = "awaiting-first-answer"
        case flags
        case storedFlags = "stored-flags"
        case invalidAnswer = "invalid-answer"
        case endPassed = "end-passed"
        case endUnreadable = "end-unreadable"
        case staleHold = "stale-hold"
        case staleOpen = "stale-open"
        case staleClosed = "stale-closed"
        case unknownOpen = "unknown-open"
        case unknownClosed = "unknown-closed"
        case clockNotBelieved = "clock-not-believed"
        case minClosed = "min-closed"
    }

    package var slug: Slug {
        switch self {
        case .starting: .starting
        case .awaitingFirstAnswer: .awaitingFirstAnswer
        case .flags: .flags
        case .storedFlags: .storedFlags
        case .invalidAnswer: .invalidAnswer
        case .endPassed: .endPassed
        case .endUnreadable: .endUnreadable
        case .stale(_, .hold): .staleHold
        case .stale(_, .open): .staleOpen
        case .stale(_, .closed): .staleClosed
        case .unknown(_, .open): .unknownOpen
        case .unknown(_, .closed): .unknownClosed
        case .clockNotBelieved: .clockNotBelieved
        case .minClosed: .minClosed
        }
    }

    /// Whether somebody should look: the verdict stands, but not on fresh and sound flags.
    package var isTrouble: Bool {
        switch self {
        case .starting, .awaitingFirstAnswer, .flags, .storedFlags, .endPassed, .minClosed: false
        case .invalidAnswer, .endUnreadable, .stale, .unknown, .clockNotBelieved: true
        }
    }

    /// The source that the reason speaks of.
    package var source: SourceName? {
        switch self {
        case .starting:
            nil
        case .awaitingFirstAnswer(let source), .flags(let source), .storedFlags(let source),
            .invalidAnswer(let source, _), .endPassed(let source), .endUnreadable(let source, _),
            .stale(let source, _), .unknown(let source, _), .clockNotBelieved(let source),
            .minClosed(let source):
            source
        }
    }

    /// One sentence without the full stop, such as follows "shop is in maintenance: ".
    package var sentence: String {
        switch self {
        case .starting:
            "no flags have come since the start, the first answer is waited for"
        case .awaitingFirstAnswer(let source):
            "after a reboot the stored flags would open the gate, so source '\(source)' is asked "
                + "first"
        case .flags(let source):
            "the flags of source '\(source)' say so"
        case .storedFlags(let source):
            "the stored flags of source '\(source)' say so, it has not answered since the start"
        case .invalidAnswer(let source, let problem):
            "the last answer of source '\(source)' is invalid (\(problem)), the last good flags "
                + "stay in force"
        case .endPassed(let source):
            "the end that source '\(source)' announced has passed"
        case .endUnreadable(let source, let text):
            "source '\(source)' announces an end that is no date, \(quoted(text)), the days left "
                + "are unknown"
        case .stale(let source, .hold):
            "the flags of source '\(source)' are older than max_stale, and are held"
        case .stale(let source, .open):
            "the flags of source '\(source)' are older than max_stale, when_stale opens the gate"
        case .stale(let source, .closed):
            "the flags of source '\(source)' are older than max_stale, when_stale closes the gate"
        case .unknown(let source, .open):
            "source '\(source)' never gave flags, when_unknown opens the gate"
        case .unknown(let source, .closed):
            "source '\(source)' never gave flags, when_unknown closes the gate"
        case .clockNotBelieved(let source):
            "the clock is not believed, so the end that source '\(source)' announced is held"
        case .minClosed(let source):
            "source '\(source)' opens the gate again, which stays closed for min_closed"
        }
    }
}
