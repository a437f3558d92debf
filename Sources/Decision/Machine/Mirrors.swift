import CivilTime

/// The mirrors of a source with signers: the same signed document on several servers. Each poll asks one of them, in
/// turn. The highest accepted version counts, so that an order on any mirror takes effect within as many intervals as
/// there are mirrors, whatever the others give.
///
/// A mirror that gives an older document is behind, and one that gives none has failed: neither is a failure of the
/// source while another mirror gives the newest document. No mirror backs off: it may be the first to have the next
/// order.
struct Mirrors: Sendable {
    private var all: [Mirror]
    /// The mirror that was asked last; nil before the first fetch.
    private var asked: Int?
    /// What it has given in the present fetch, until that counts.
    private var offer: (version: Int64, validators: Validators)?
    /// The mirrors that are asked at once, one after the other: all of them after a start and after a hint.
    private var round: Set<Int>

    private struct Mirror {
        let address: String
        var status = Status.unknown
        /// Those of its last document, whether that counts or is behind.
        var validators = Validators()
        /// Since when it is behind or fails; nil while it does not.
        var since: Instant?
        /// Until when its server asks to be left alone.
        var pausedUntil: Boottime?

        /// The version of its last document; nil if it gave none.
        var version: Int64? {
            switch status {
            case .current(let version), .behind(let version): version
            case .unknown, .failed: nil
            }
        }

        var isFailed: Bool { if case .failed = status { true } else { false } }
    }

    /// What a mirror gave when it was asked last.
    private enum Status {
        /// It was not asked since the start. Left for any other case when it is.
        case unknown
        /// A document of this version, the highest at that time.
        case current(Int64)
        /// A document of this version, which is lower than one that was accepted.
        case behind(Int64)
        /// No document, or one that is refused.
        case failed(Failure)
    }

    /// Mirrors at these addresses; nil for none.
    init?(of addresses: [String]) {
        guard !addresses.isEmpty else { return nil }
        all = addresses.map { Mirror(address: $0) }
        round = Set(all.indices)
    }

    // MARK: - A fetch

    /// Asks each mirror at once, one after the other.
    mutating func beginRound() { round = Set(all.indices) }

    /// Begins the fetch of the mirror whose turn it is. A mirror that asks to be left alone is passed over, unless each
    /// does. Returns it with the validators of its own last document, if a "not modified" would be understood: where
    /// that is the `newest` answer, which each switch has read, or lower than the `highest` version.
    mutating func start(
        newest: Int64?, highest: Int64?, at now: Boottime, using random: inout SeededRandom
    ) -> (mirror: Int, validators: Validators) {
        let first =
            asked.map { ($0 + 1) % all.count } ?? Int.random(in: all.indices, using: &random)
        let turns = all.indices.map { (first + $0) % all.count }
        let mirror =
            turns.first { !isPaused($0, at: now) }
            ?? turns.min { all[$0].pausedUntil ?? now < all[$1].pausedUntil ?? now } ?? first
        asked = mirror
        offer = nil
        round.remove(mirror)
        guard let version = all[mirror].version,
            version == newest || highest.map({ version < $0 }) ?? false
        else { return (mirror, Validators()) }
        return (mirror, all[mirror].validators)
    }

    /// Notes what the mirror in flight has given. True if that is a document with a lower version than the highest.
    mutating func isBehind(by outcome: Outcome, _ documents: DocumentTrust, at now: Instant) -> Bool
    {
        guard let asked else { return false }
        let version: Int64?
        var validators = all[asked].validators
        switch outcome {
        case .failure: return false
        case .unchanged: version = all[asked].version
        case .answer(let answer):
            version = documents.version(of: answer)
            validators = answer.validators
        }
        guard let version else { return false }
        guard let highest = documents.highest?.number, version < highest else {
            offer = (version, validators)
            return false
        }
        all[asked].status = .behind(version)
        all[asked].validators = validators
        all[asked].since = all[asked].since ?? now
        all[asked].pausedUntil = nil
        return true
    }

    /// The document of the mirror in flight counts.
    mutating func fetchSucceeded() {
        guard let asked, let offer else { return }
        self.offer = nil
        all[asked].status = .current(offer.version)
        all[asked].validators = offer.validators
        (all[asked].since, all[asked].pausedUntil) = (nil, nil)
    }

    /// The mirror in flight has failed. It is left alone for as long as its server asks, and for `pause` if it denies
    /// access.
    mutating func fetchFailed(_ failure: Failure, pause: Duration, at now: Now) {
        guard let asked else { return }
        offer = nil
        all[asked].status = .failed(failure)
        all[asked].validators = Validators()
        all[asked].since = all[asked].since ?? now.wall
        let wait = failure.retryAfter.map { min(max($0, .zero), Schedule.retryAfterLimit) }
        let least = failure.kind == .refused ? max(pause, wait ?? .zero) : wait
        all[asked].pausedUntil = least.map { now.boot + $0 }
    }

    /// The wait for the next mirror, after a fetch that has lasted `elapsed`: a mirror that hangs delays no other.
    func wait(_ wait: Duration, after elapsed: Duration, at now: Boottime) -> Duration {
        let isAtOnce = round.contains { !isPaused($0, at: now) }
        return isAtOnce ? .zero : max(.zero, wait - max(.zero, elapsed))
    }

    // MARK: - What all of them give

    /// Whether another mirror than the one in flight gave a document of a higher version than this.
    func isNewerElsewhere(than version: Int64) -> Bool {
        all.indices.contains { mirror in
            guard mirror != asked, case .current(let other) = all[mirror].status else {
                return false
            }
            return other > version
        }
    }

    /// Why no mirror gives any document; nil while one does, or may. The wait is the shortest that one asks for.
    func commonFailure(at now: Boottime) -> Failure? {
        guard let asked, case .failed(var failure) = all[asked].status,
            all.allSatisfy(\.isFailed)
        else { return nil }
        failure.detail = "no mirror gives flags: \(text(of: all[asked], highest: nil) ?? "")"
        let waits = all.map { max(.zero, ($0.pausedUntil ?? now) - now) }
        failure.retryAfter = waits.min().flatMap { $0 > .zero ? $0 : nil }
        return failure
    }

    /// That no mirror gives the highest version, although one gives a document; nil if one may.
    func lag(behind highest: Int64?) -> Failure? {
        guard let highest, all.allSatisfy({ $0.since != nil }), !all.allSatisfy(\.isFailed) else {
            return nil
        }
        return Failure(.unreachable, "no mirror gives version \(highest), which was accepted")
    }

    /// What is wrong with each mirror that is behind or fails, and since when.
    func problems(highest: Int64?) -> [(text: String, since: Instant)] {
        all.compactMap { mirror in
            guard let since = mirror.since, let text = text(of: mirror, highest: highest) else {
                return nil
            }
            return (text, since)
        }
    }

    /// What others see of each mirror.
    func views(highest: Int64?) -> [Overview.MirrorView] {
        all.map { mirror in
            let word: Overview.MirrorView.Status =
                switch mirror.status {
                case .unknown: .unknown
                case .current(let version): version < highest ?? version ? .unknown : .current
                case .behind: .behind
                case .failed: .failing
                }
            return Overview.MirrorView(
                address: mirror.address, status: word, version: mirror.version,
                problem: text(of: mirror, highest: highest), since: mirror.since)
        }
    }

    private func text(of mirror: Mirror, highest: Int64?) -> String? {
        switch mirror.status {
        case .unknown, .current: nil
        case .behind(let version):
            "mirror '\(mirror.address)' is behind: it gives version \(version), and "
                + "\(highest ?? version) was accepted"
        case .failed(let failure): "mirror '\(mirror.address)': \(failure.detail)"
        }
    }

    private func isPaused(_ mirror: Int, at now: Boottime) -> Bool {
        all[mirror].pausedUntil.map { now < $0 } ?? false
    }
}

/// The mirrors of a source. Few sources have some, and so they lie apart.
indirect enum MirrorState {
    case absent
    case present(Mirrors)

    init(_ mirrors: Mirrors?) { self = mirrors.map { .present($0) } ?? .absent }
}
