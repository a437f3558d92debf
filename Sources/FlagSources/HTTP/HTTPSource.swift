package import Decision
import Files
import HTTP
package import JSON
import Requests
package import SourceSettings

/// Flags in a document on a server: one conditional GET for each fetch, over a kept connection. A signed document may
/// be on several servers.
package final class HTTPSource: FlagSource {
    private let context: SourceDependencies
    private let fetch: Fetch
    /// At least one.
    private var places: [Place]
    /// Whether somebody reads the whole document as one value.
    private var isReadWhole = false

    /// An address of the document, with what binds the answers of this one alone.
    private struct Place {
        let settings: HTTPSettings
        var fingerprints: RequestFingerprint
        var document: DocumentRequest?
    }

    /// A source that fetches nothing yet.
    package init(_ settings: HTTPSettings, _ context: SourceDependencies) {
        self.context = context
        places = settings.addresses.map {
            Place(settings: $0, fingerprints: RequestFingerprint(to: $0, context.environment))
        }
        fetch = Fetch(
            // A failure of a mirror names it anyway.
            settings.mirrors.isEmpty ? "get '\(settings.shownURL)'" : "get",
            limit: settings.limits.timeout, for: context)
    }

    package var name: SourceName { context.name }

    package var documents: SignedDocuments? { context.documents }

    package var mirrors: [String] { places.count > 1 ? places.map(\.settings.shownURL) : [] }

    /// With mirrors it has those of all.
    package var fingerprint: String {
        places.map(\.fingerprints.stored).joined(separator: " and ")
    }

    package func matches(fingerprint stored: String) -> Bool {
        places.count == 1
            ? places[0].fingerprints.matches(stored)
            : fingerprint.utf8.elementsEqual(stored.utf8)
    }

    package func setKeys(_ keys: Set<ExactString>) {
        isReadWhole = keys.contains(ExactString(FlagDocument.wholeKey))
    }

    package func start() { documents?.start() }

    package func fetch(unlessMatching validators: Validators) {
        fetch(from: 0, unlessMatching: validators)
    }

    package func fetch(from mirror: Int, unlessMatching validators: Validators) {
        let place = places.indices.contains(mirror) ? mirror : 0
        documents?.refresh()
        fetch.start()
        do {
            let document = try prepare(place)
            let isBound = places[place].fingerprints.answered == document.fingerprint
            let request = document.request(unlessMatching: isBound ? validators : Validators())
            let isConditional = request.request.headers.count > document.plain.headers.count
            fetch.send(request) { [unowned self] result in
                responseArrived(result, from: place, document.fingerprint, isConditional)
            }
        } catch {
            context.deliverOutcome(.failure(Failure(.unreachable, "\(error)")))
        }
    }

    package func stop() {
        fetch.stop()
        documents?.stop()
    }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, from place: Int, _ fingerprint: String,
        _ isConditional: Bool
    ) {
        do throws(Failure) {
            let response = try result.get()
            let outcome = try outcome(of: response, isConditional)
            places[place].fingerprints.answered = fingerprint
            context.deliverOutcome(outcome, of: response)
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
            var answer = try answer(in: response.body, alone: alone(in: response), at: now)
            answer.validators = response.validators(now: now)
            return .answer(answer)
        } catch {
            var failure = error
            failure.retryAfter = response.retryAfter(now: now)
            throw failure
        }
    }

    /// Which bodies that are no object count: a server has to say that its word is JSON. The header section of a usual
    /// answer is not searched.
    private func alone(in response: HTTPResponse) -> FlagDocument.Alone {
        guard isReadWhole, response.body.first != UInt8(ascii: "{") else { return .nothing }
        return response.headers.isJSON ? .value : .valueOfOtherType
    }

    /// Reads the credentials, whose files may be replaced. The request is made again only if they changed.
    private func prepare(_ place: Int) throws(CredentialError) -> DocumentRequest {
        let (known, settings) = (places[place].document, places[place].settings)
        if let known, settings.credentials.isEmpty { return known }
        let secrets = try Secrets(of: settings, context.environment)
        if let known, known.secrets == secrets { return known }
        let made = DocumentRequest(
            secrets, places[place].fingerprints.text(secrets),
            try settings.request(with: secrets, in: context.environment))
        places[place].document = made
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
