import CivilTime
package import Decision
package import EventLoop
import Files
package import SourceKinds
package import Transfer

/// Flags in a document that a server holds: one conditional GET for each fetch, over a connection that
/// is kept.
package final class HTTPSource: FlagSource {
    package let name: SourceName
    private let site: Site
    private let environment: SourceEnvironment
    private let binder: Binding
    private let loop: EventLoop
    private let fetch: Fetch
    private let deliver: Deliver
    /// The request for the document, with the credentials as they were read last.
    private var document: DocumentRequest?
    /// The binding of the newest good answer: its validators are sent under no other binding.
    private var answered: String?

    /// A source that fetches nothing yet. `deliver` takes its events.
    package init(
        name: SourceName, site: Site, environment: SourceEnvironment, client: HTTPClient,
        loop: EventLoop, deliver: @escaping Deliver
    ) {
        self.name = name
        self.site = site
        self.environment = environment
        self.loop = loop
        self.deliver = deliver
        binder = Binding(to: site)
        fetch = Fetch("get '\(site.shownURL)'", limit: site.timeout, client: client, loop: loop)
        // An answer of an earlier run is assumed to have come with these credentials.
        if case .success(let document) = Result(catching: prepare) { answered = document.binding }
    }

    package var binding: String { answered ?? document?.binding ?? binder.text(nil) }

    /// While the credentials cannot be read, they are assumed to be unchanged.
    package func isBound(by stored: String) -> Bool {
        answered.map { $0.utf8.elementsEqual(stored.utf8) } ?? binder.covers(stored)
    }

    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        fetch.begin()
        do {
            let document = try prepare()
            let isBound = answered == document.binding
            let request = document.request(unlessMatching: isBound ? validators : Validators())
            let isConditional = request.request.headers.count > document.plain.headers.count
            fetch.send(request) { [unowned self] result in
                end(result, document.binding, isConditional)
            }
        } catch {
            deliver(.fetched(name, .failure(Failure(.unreachable, "\(error)"))))
        }
    }

    package func stop() {
        fetch.stop()
    }

    private func end(
        _ result: Result<HTTPResponse, Failure>, _ binding: String, _ isConditional: Bool
    ) {
        do throws(Failure) {
            let response = try result.get()
            let now = loop.now.wall
            let outcome = try response.outcome(
                of: fetch.operation, isConditional: isConditional, now: now)
            answered = binding
            deliver(.fetched(name, outcome, date: response.date(now: now)))
        } catch {
            deliver(.fetched(name, .failure(error)))
        }
    }

    /// Reads the credentials, since their files are replaced in place. The request is rebuilt only
    /// if they changed.
    private func prepare() throws(CredentialError) -> DocumentRequest {
        if let document, !site.namesSecrets { return document }
        let secrets = try Secrets(of: site, environment)
        if let document, document.secrets == secrets { return document }
        let made = DocumentRequest(
            secrets: secrets, binding: binder.text(secrets),
            plain: site.request(with: secrets, agent: environment.agent))
        document = made
        return made
    }
}

/// The request for a document with the credentials as they were once read. It stays the same object
/// from poll to poll while its conditions do, so that libcurl is not set up again.
private final class DocumentRequest {
    let secrets: Secrets
    /// The binding of the answers to it.
    let binding: String
    /// The request without conditions.
    let plain: HTTPRequest
    private var last: (validators: Validators, request: PreparedRequest)?

    /// The request `plain`, and the credentials and the binding that it was made of.
    init(secrets: Secrets, binding: String, plain: HTTPRequest) {
        self.secrets = secrets
        self.binding = binding
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
        of operation: String, isConditional: Bool, now: Instant
    ) throws(Failure) -> Outcome {
        switch status {
        case 200:
            do throws(Failure) {
                return .answer(
                    Answer(
                        body: body, flags: try FlagDocument.parse(body), validators: validators,
                        fetchedAt: now))
            } catch {
                throw Failure(error.kind, error.detail, retryAfter: retryAfter(now: now))
            }
        case 304 where isConditional: return .unchanged
        default: throw refusal(of: operation, now: now)
        }
    }
}
