import CivilTime

/// The addresses of a source with signers: the same signed document on several servers, its mirrors. Each poll asks the
/// next one. The highest accepted version counts, so that an order on any mirror takes effect within as many polls as
/// there are mirrors, whatever the others give.
///
/// A mirror that gives no document, or an older one than was accepted, is a problem of its source that names the
/// address, and no failure of the source while another mirror gives the newest. No mirror backs off: it may be the
/// first to have the next order.
struct Mirrors: Sendable {
    private var all: [Mirror]
    /// The mirror that was asked last; nil before the first fetch.
    private var asked: Int?
    /// How many mirrors are asked at once, one after the other: all of them after a start and after a hint.
    private var askedAtOnce: Int

    private struct Mirror {
        let address: String
        /// The version of the document that it gave last, and the validators; nil if it gave none.
        var document: (version: Int64, validators: Validators)?
        /// Why its last answer does not count, and since when none does.
        var failure: (failure: Failure, since: Boottime)?
        /// Until when its server asks to be left alone.
        var pausedUntil: Boottime?
    }

    /// Mirrors at these addresses; nil for none.
    init?(of addresses: [String]) {
        guard !addresses.isEmpty else { return nil }
        all = addresses.map { Mirror(address: $0) }
        askedAtOnce = addresses.count
    }

    /// Asks each mirror at once, one after the other.
    mutating func askAll() { askedAtOnce = all.count }

    /// Begins a fetch at the next mirror, at first at any. A mirror that asks to be left alone is passed over, unless
    /// each does. Returns it with the validators of its document, where that is the `newest` answer of the source, that
    /// each switch has read: only then a "not modified" says something.
    mutating func start(
        newest: Int64?, at now: Boottime, using random: inout SeededRandom
    ) -> (mirror: Int, validators: Validators) {
        let first =
            asked.map { ($0 + 1) % all.count } ?? Int.random(in: all.indices, using: &random)
        let turns = all.indices.map { (first + $0) % all.count }
        let next =
            turns.first { !isPaused($0, at: now) }
            ?? turns.min { all[$0].pausedUntil ?? now < all[$1].pausedUntil ?? now } ?? first
        asked = next
        askedAtOnce = max(0, askedAtOnce - 1)
        guard let known = all[next].document, known.version == newest, all[next].failure == nil
        else { return (next, Validators()) }
        return (next, known.validators)
    }

    /// The mirror in flight has answered with a document of this version. Returns why it does not count; nil if it may.
    mutating func answered(
        _ version: Int64, _ validators: Validators, highest: Int64?
    ) -> Failure? {
        guard let asked else { return nil }
        all[asked].document = (version, validators)
        guard let highest, version < highest else { return nil }
        return Failure(
            .unreachable, "it gives version \(version), and version \(highest) was accepted")
    }

    /// The document of the mirror in flight counts.
    mutating func fetchSucceeded() {
        guard let asked else { return }
        (all[asked].failure, all[asked].pausedUntil) = (nil, nil)
    }

    /// The answer of the mirror in flight does not count, or there was none. It is left alone for as long as its server
    /// asks, and for `pause` if it denies access. Returns the failure of the source if no mirror gives the newest
    /// document; the wait is the shortest that one asks for.
    mutating func fetchFailed(_ failure: Failure, pause: Duration, at now: Now) -> Failure? {
        guard let asked else { return failure }
        all[asked].failure = (failure, since: all[asked].failure?.since ?? now.boot)
        let wait = failure.retryAfter.map { min(max($0, .zero), Retry.longestAsked) }
        let least = failure.kind == .refused ? max(pause, wait ?? .zero) : wait
        all[asked].pausedUntil = least.map { now.boot + $0 }
        guard all.allSatisfy({ $0.failure != nil }) else { return nil }
        var common = failure
        common.detail = "no mirror gives the newest flags: \(text(of: all[asked].address, failure))"
        let waits = all.map { max(.zero, ($0.pausedUntil ?? now.boot) - now.boot) }
        common.retryAfter = waits.min().flatMap { $0 > .zero ? $0 : nil }
        return common
    }

    /// The wait for the next mirror, after a fetch that has lasted `elapsed`: a mirror that hangs delays no other.
    func wait(_ wait: Duration, after elapsed: Duration, at now: Boottime) -> Duration {
        let isAtOnce = askedAtOnce > 0 && all.indices.contains { !isPaused($0, at: now) }
        return isAtOnce ? .zero : max(.zero, wait - max(.zero, elapsed))
    }

    /// Whether another mirror than the one in flight gave a document of a higher version than this. It waits for
    /// signatures, or for more answers.
    func isNewerElsewhere(than version: Int64) -> Bool {
        all.indices.contains { index in
            index != asked && all[index].failure == nil
                && all[index].document.map { $0.version > version } ?? false
        }
    }

    /// Why each mirror does not count that does not, and since when.
    var problems: [(address: String, text: String, since: Boottime)] {
        all.compactMap { mirror in
            mirror.failure.map { (mirror.address, text(of: mirror.address, $0.failure), $0.since) }
        }
    }

    private func text(of address: String, _ failure: Failure) -> String {
        "mirror '\(address)': \(failure.detail)"
    }

    private func isPaused(_ mirror: Int, at now: Boottime) -> Bool {
        all[mirror].pausedUntil.map { now < $0 } ?? false
    }
}

extension Machine {
    /// Begins a fetch at the next mirror. False for a source without mirrors.
    mutating func startMirror(of source: Int) -> Bool {
        let (newest, now) = (newestRead(of: source)?.signed?.order.version, now.boot)
        let next = sources[source].mirrors?.start(newest: newest, at: now, using: &random)
        guard let (mirror, validators) = next else { return false }
        batch.add(.fetch(sources[source].name, validators, mirror: mirror))
        return true
    }

    /// A mirror has answered, or failed. True if that ends the fetch: it gives an older document than was accepted, or
    /// confirms the flags in force while another mirror has a newer one.
    mutating func endMirrorFetch(of source: Int, by outcome: Outcome) -> Bool {
        guard case .answer(let answer) = outcome,
            let version = sources[source].documents.version(of: answer)
        else { return confirmsBesideNewer(outcome, source) }
        let highest = sources[source].documents.highest?.number
        let failure = sources[source].mirrors?
            .answered(version, answer.validators, highest: highest)
        guard let failure else { return confirmsBesideNewer(outcome, source) }
        fetchFailed(source, failure)
        return true
    }

    /// Whether an outcome repeats the newest answer while another mirror has a document of a higher version: then the
    /// flags are confirmed, and that document stays the reason.
    private mutating func confirmsBesideNewer(_ outcome: Outcome, _ source: Int) -> Bool {
        guard let newest = sources[source].answers.first?.answer,
            let version = newest.signed?.order.version,
            sources[source].mirrors?.isNewerElsewhere(than: version) == true
        else { return false }
        switch outcome {
        case .answer(let answer):
            guard answer.repeats(newest), sources[source].documents.isProved(newest) else {
                return false
            }
        case .unchanged: break
        case .failure: return false
        }
        for reader in index.switches[source] { services[reader.service].markDue() }
        sources[source].confirmAnswer(at: now)
        sources[source].fetches.unchanged += 1
        batch.add(.markConfirmed(sources[source].name))
        sources[source].fetchSucceeded(at: now)
        scheduleNextFetch(of: source)
        return true
    }

    /// The fetch of a mirror has failed. Returns the failure of the source; nil if another mirror may give the newest
    /// document, so that the polls go on at the interval.
    mutating func mirrorFailed(_ failure: Failure, of source: Int) -> Failure? {
        guard sources[source].mirrors != nil else { return failure }
        let common = sources[source].mirrorFailed(failure, at: now)
        if common == nil { scheduleNextFetch(of: source) }
        return common
    }
}

extension SourceState {
    /// The fetch of the mirror in flight has failed. Returns the failure that all mirrors have in common.
    mutating func mirrorFailed(_ failure: Failure, at now: Now) -> Failure? {
        let pause = plan.maxBackoff ?? Schedule.usualBackOff(of: plan.interval)
        let common = mirrors?.fetchFailed(failure, pause: pause, at: now)
        if common == nil { fetches.count(failure) }
        return common
    }
}
