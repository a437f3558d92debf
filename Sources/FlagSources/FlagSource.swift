import CivilTime
package import Decision
package import EventLoop
package import HTTP
package import JSON
package import Requests
package import SourceSettings

/// A source of flags. Each kind of source is a folder beside this file.
///
/// It ends each fetch with exactly one `.fetchEnded`, inside its time limit; one also ends a fetch that starts
/// over. Between fetches it may deliver `.hinted`: the flags may have changed, and no more.
package protocol FlagSource: AnyObject {
    /// The name that the configuration gives it.
    var name: SourceName { get }

    /// Identifies what selects the answers: address, headers, a digest of the credentials. Stored with an answer.
    var fingerprint: String { get }

    /// Whether an answer stored under this binding holds the same flags: its validators may be sent, and its
    /// version counts. Any other stays in force until the first good answer.
    func matches(fingerprint stored: String) -> Bool

    /// Sets which keys the switches and values of this host read; called before `start`, and at
    /// each reload. A source that hears of changes of single keys passes on no others.
    func setKeys(_ keys: Set<ExactString>)

    /// Its signed documents; nil without signers. They have to know the answers in force before `start`.
    var documents: SignedDocuments? { get }

    /// Begins to watch for changes, if the source can.
    func start()

    /// Fetches once. With validators, flags come only if they have changed since.
    func fetch(unlessMatching validators: Validators)

    /// Fetches once as `fetch(unlessMatching:)` does, from one of its mirrors.
    func fetch(from mirror: Int, unlessMatching validators: Validators)

    /// The mirrors by their addresses, for people; empty for a source without.
    var mirrors: [String] { get }

    /// Forgets earlier answers, such as their highest version: any next answer counts.
    func forget()

    /// Ends the watch and a fetch in flight. Nothing is delivered after it.
    func stop()
}

extension FlagSource {
    /// Does nothing: most sources hear of a change, and not of what it changes.
    package func setKeys(_ keys: Set<ExactString>) {}

    /// Only the same binding, byte by byte.
    package func matches(fingerprint stored: String) -> Bool {
        fingerprint.utf8.elementsEqual(stored.utf8)
    }

    package var documents: SignedDocuments? { nil }

    /// None.
    package var mirrors: [String] { [] }

    /// A source without mirrors has one place to ask.
    package func fetch(from mirror: Int, unlessMatching validators: Validators) {
        fetch(unlessMatching: validators)
    }

    /// Of a source without signers nothing: it takes each answer, whatever came before.
    package func forget() { documents?.forget() }

    /// The answer that is this body, or the signed document in it. A signed document is never a value `alone`.
    func answer(
        in body: [UInt8], alone: FlagDocument.Alone, at now: Instant
    ) throws(Failure) -> Answer {
        if let documents { return try documents.answer(in: body) }
        return try Answer(body: body, alone: alone, fetchedAt: now)
    }
}

/// Receives a source's events: appends them to the queue of the driver, never calls the machine.
package typealias Deliver = (Event) -> Void

/// Everything that a network source has beside its settings.
package struct SourceDependencies {
    let name: SourceName
    let interval: Duration
    let environment: HostEnvironment
    let client: HTTPClient
    let loop: EventLoop
    let deliver: Deliver
    let documents: SignedDocuments?

    /// The context of one source; `deliver` takes its events. `signing` says who has to sign its documents.
    package init(
        name: SourceName, interval: Duration, environment: HostEnvironment, client: HTTPClient,
        loop: EventLoop, deliver: @escaping Deliver, signing: SigningRule? = nil
    ) {
        self.name = name
        self.interval = interval
        self.environment = environment
        self.client = client
        self.loop = loop
        self.deliver = deliver
        documents = signing.map {
            SignedDocuments(of: name, by: environment.signers($0), loop: loop, deliver: deliver)
        }
    }

    var now: (wall: Instant, boot: Boottime) { loop.now }

    /// Ends a fetch.
    func deliverOutcome(_ outcome: Outcome) { deliver(.fetchEnded(name, outcome)) }

    /// Ends a fetch by what a response says.
    func deliverOutcome(_ outcome: Outcome, of response: HTTPResponse) {
        let date = response.date(now: now.wall)
        deliver(.fetchEnded(name, outcome, date: date, age: response.age ?? .zero))
    }

    /// Delivers why the source is not watched; nil if it is.
    func deliverWatchProblem(_ problem: String?) { deliver(.watchChanged(name, problem: problem)) }
}

extension String {
    /// Whether it contains the bytes of `other`. Swift's own search finds canonical equivalents too.
    func contains(exactly other: String) -> Bool {
        let (own, wanted) = (utf8Span.span, other.utf8Span.span)
        guard wanted.count <= own.count else { return false }
        return (0...(own.count - wanted.count)).contains { start in
            (0..<wanted.count).allSatisfy { own[start + $0] == wanted[$0] }
        }
    }
}

extension JSON.Object {
    /// The object as it is sent and stored.
    var bytes: [UInt8] { Array(JSON.Value.object(self).serialized().utf8) }
}
