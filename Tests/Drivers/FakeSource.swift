import CivilTime
import Decision
import FlagSources

/// A source that answers each fetch with the same body.
final class FakeSource: FlagSource {
    let name: SourceName
    let fingerprint = "fake"
    private let answer: Answer
    private let deliver: Deliver

    init(_ name: SourceName, answering body: String, at now: Instant, _ deliver: @escaping Deliver)
        throws
    {
        self.name = name
        self.deliver = deliver
        let bytes = Array(body.utf8)
        answer = Answer(body: bytes, flags: try FlagDocument.parse(bytes), fetchedAt: now)
    }

    func start() {}

    func fetch(unlessMatching validators: Validators) {
        deliver(.fetchEnded(name, .answer(answer)))
    }

    func stop() {}
}
