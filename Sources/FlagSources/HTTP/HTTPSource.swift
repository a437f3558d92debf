package import Decision
import Files
import HTTP
import Requests
package import SourceSettings

/// Flags in a document on a server: one conditional GET for each fetch, over a kept connection.
package final class HTTPSource: FlagSource {
    private let settings: HTTPSettings
    private let context: SourceDependencies
    private var fingerprints: RequestFingerprint
    private let fetch: Fetch
    private var document: DocumentRequest?

    /// A source that fetches nothing yet.
    package init(_ settings: HTTPSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        fingerprints = RequestFingerprint(to: settings, context.environment)
        fetch = Fetch(
            "get '\(settings.shownURL)'", limit: settings.limits.timeout, isDecidedOn: true,
            for: context)
    }

    package var name: SourceName { context.name }

    package var documents: SignedDocuments? { context.documents }

    package var fingerprint: String { fingerprints.stored }

    package func matches(fingerprint stored: String) -> Bool { fingerprints.matches(stored) }

    package func start() { documents?.start() }

    package func fetch(unlessMatching validators: Validators) {
        documents?.refresh()
        fetch.start()
        do {
            let document = try prepare()
            let isBound = fingerprints.answered == document.fingerprint
            let request = document.request(unlessMatching: isBound ? validators : Validators())
            let isConditional = request.request.headers.count > document.plain.headers.count
            fetch.send(request) { [unowned self] result in
                responseArrived(result, document.fingerprint, isConditional)
            }
        } catch {
            context.deliverOutcome(.failure(Failure(.unreachable, "\(error)")))
        }
    }

    package func answerDecided() { fetch.answerDecided() }

    package func stop() {
        fetch.stop()
        documents?.stop()
    }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, _ fingerprint: String, _ isConditional: Bool
    ) {
        do throws(Failure) {
            let response = try result.get()
            let outcome = try outcome(of: response, isConditional)
            fingerprints.answered = fingerprint
            context.deliverOutcome(outcome, date: response.date(now: context.now.wall))
        } catch {
            context.deliverOutcome(.failure(documents?.failure(of: error) ?? error))
        }
    }

    /// Only 200 brings flags: any other success holds a part of them (206), a version of them that a
    /// proxy has changed (203) or none. Only a conditional request can be answered "unchanged".
    private func outcome(
        of response: HTTPResponse, _ isConditional: Bool
    ) throws(Failure) -> Outcome {
        let now = context.now.wall
        if response.status == 304, isConditional { return .unchanged }
        guard response.status == 200 else { throw response.refusal(of: fetch.operation, now: now) }
        do throws(Failure) {
            var answer = try answer(in: response.body, at: now)
            answer.validators = response.validators(now: now)
            return .answer(answer)
        } catch {
            var failure = error
            failure.retryAfter = response.retryAfter(now: now)
            throw failure
        }
    }

    /// Reads the credentials, whose files may be replaced. The request is made again only if they changed.
    private func prepare() throws(CredentialError) -> DocumentRequest {
        if let document, settings.credentials.isEmpty { return document }
        let secrets = try Secrets(of: settings, context.environment)
        if let document, document.secrets == secrets { return document }
        let made = DocumentRequest(
            secrets, fingerprints.text(secrets),
            try settings.request(with: secrets, in: context.environment))
        document = made
        return made
    }
}

/// The request for a document with the credentials as they were once read. It stays the same object
/// from poll to poll while its conditions do, so that libcurl is not set up again.
private final class DocumentRequest {
    let secrets: Secrets
    /// The binding of the answers to it.
    let fingerprint: String
    /// The request without conditions.
    let plain: HTTPRequest
    private var last: (validators: Validators, request: PreparedRequest)?

    init(_ secrets: Secrets, _ fingerprint: String, _ plain: HTTPRequest) {
        self.secrets = secrets
        self.fingerprint = fingerprint
        self.plain = plain
    }

    /// The request under the condition that the flags are not those of the validators.
    func request(unlessMatching validators: Validators) -> PreparedRequest {
        if let last, last.validators == validators { return last.request }
        var request = plain
        if let etag = validators.etag { request.headers.append(Header("If-None-Match", etag)) }
        if let date = validators.lastModified {
            request.headers.append(Header("If-Modified-Since", date))
        }
        let prepared = PreparedRequest(request)
        last = (validators, prepared)
        return prepared
    }
}
