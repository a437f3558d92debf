import CivilTime
import Decision
import FlagSources

/// A source that answers each fetch with the same body, or whose fetches a test ends.
final class FakeSource: FlagSource {
    let name: SourceName
    let fingerprint: String
    /// How many fetches have begun.
    private(set) var fetches = 0
    private(set) var isStopped = false
    private let body: String?
    private let now: Instant
    private let deliver: Deliver

    init(
        _ name: SourceName, _ fingerprint: String = "fake", answering body: String? = nil,
        at now: Instant, _ deliver: @escaping Deliver
    ) {
        self.name = name
        self.fingerprint = fingerprint
        self.body = body
        self.now = now
        self.deliver = deliver
    }

    func start() {}

    func fetch(unlessMatching validators: Validators) {
        fetches += 1
        if let body { answer(body) }
    }

    func stop() { isStopped = true }

    /// Ends the fetch with these flags.
    func answer(_ body: String) {
        let bytes = Array(body.utf8)
        guard case .success(let flags) = Result(catching: { try FlagDocument.parse(bytes) }) else {
            return
        }
        deliver(.fetchEnded(name, .answer(Answer(body: bytes, flags: flags, fetchedAt: now))))
    }
}
