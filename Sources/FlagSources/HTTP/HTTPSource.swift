import CivilTime
package import Decision
import Files
import HTTP
package import SourceSettings

/// Flags in a document that a server holds: one conditional GET for each fetch, over a connection that
/// is kept.
package final class HTTPSource: FlagSource {
    private let settings: HTTPSettings
    private let context: SourceDependencies
    private let fingerprints: RequestFingerprint
    private let fetch: Fetch
    /// The request for the document, with the credentials as they were read last.
    private var document: DocumentRequest?
    /// The binding of the newest good answer: its validators are sent under no other binding.
    private var answered: String?
    /// Nil without signers.
    private let documents: SignedDocuments?

    /// A source that fetches nothing yet.
    package init(_ settings: HTTPSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        documents = context.signedDocuments()
        fingerprints = RequestFingerprint(to: settings)
        fetch = Fetch(
            "get '\(settings.shownURL)'", limit: settings.limits.timeout, isDecidedOn: true,
            for: context)
        // An answer of an earlier run is assumed to have come with these credentials.
        if case .success(let document) = Result(catching: prepare) {
            answered = document.fingerprint
        }
    }

    package var name: SourceName { context.name }

    package var fingerprint: String { answered ?? document?.fingerprint ?? fingerprints.text(nil) }

    /// While the credentials cannot be read, they are assumed to be unchanged.
    package func matches(fingerprint stored: String) -> Bool {
        answered.map { $0.utf8.elementsEqual(stored.utf8) } ?? fingerprints.covers(stored)
    }

    package func setAnswersInForce(_ answers: [Answer]) { documents?.setAnswersInForce(answers) }

    package var disproofs: [[UInt8]: String] { documents?.disproofs ?? [:] }

    package func forget() { documents?.forget() }

    package func readSigners() { documents?.refresh() }

    package func start() { documents?.start() }

    package func fetch(unlessMatching validators: Validators) {
        documents?.refresh()
        fetch.start()
        do {
            let document = try prepare()
            let isBound = answered == document.fingerprint
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
            let now = context.now.wall
            let outcome = try response.outcome(
                of: fetch.operation, isConditional: isConditional, by: documents, now: now)
            answered = fingerprint
            context.deliverOutcome(outcome, date: response.date(now: now))
        } catch {
            context.deliverOutcome(.failure(documents?.failure(of: error) ?? error))
        }
    }

    /// Reads the credentials, since their files are replaced in place. The request is rebuilt only
    /// if they changed.
    private func prepare() throws(CredentialError) -> DocumentRequest {
        if let document, !settings.namesSecrets { return document }
        let secrets = try Secrets(of: settings, context.environment)
        if let document, document.secrets == secrets { return document }
        let made = DocumentRequest(
            secrets: secrets, fingerprint: fingerprints.text(secrets),
            plain: settings.request(with: secrets, agent: context.environment.userAgent))
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

    /// The request `plain`, and the credentials and the binding that it was made of.
    init(secrets: Secrets, fingerprint: String, plain: HTTPRequest) {
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

extension HTTPResponse {
    /// Only 200 brings flags: any other success holds a part of them (206), a version of them that a
    /// proxy has changed (203) or none. Only a conditional request can be answered "unchanged".
    fileprivate func outcome(
        of operation: String, isConditional: Bool, by documents: SignedDocuments?, now: Instant
    ) throws(Failure) -> Outcome {
        switch status {
        case 200:
            do throws(Failure) {
                if let documents {
                    var answer = try documents.answer(in: body)
                    answer.validators = validators(now: now)
                    return .answer(answer)
                }
                return .answer(
                    Answer(
                        body: body, flags: try FlagDocument.parse(body),
                        validators: validators(now: now), fetchedAt: now))
            } catch {
                var failure = error
                failure.retryAfter = retryAfter(now: now)
                throw failure
            }
        case 304 where isConditional: return .unchanged
        default: throw refusal(of: operation, now: now)
        }
    }
}
