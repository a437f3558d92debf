import CivilTime
package import Decision
package import EventLoop
import JSON
package import SourceKinds
package import Transfer

/// Flags in the server template of a Firebase project: fetched with an access token, and evaluated on
/// this host.
package final class ServerTemplateSource: FlagSource {
    package let name: SourceName
    package let binding: String
    private let place: ServerTemplatePlace
    private let context: Context
    private let agent: String
    private let loop: EventLoop
    private let client: HTTPClient
    private let tokens: AccessTokens
    private let deliver: Deliver
    private var exchange: Exchange?
    private var editions = Editions()

    package init(
        name: SourceName, place: ServerTemplatePlace, bearings: Bearings, client: HTTPClient,
        loop: EventLoop, deliver: @escaping Deliver
    ) {
        self.name = name
        self.place = place
        self.client = client
        self.loop = loop
        self.deliver = deliver
        context = place.context(on: bearings.host)
        binding = place.binding(in: context)
        agent = bearings.agent
        tokens = AccessTokens(
            place.credential, scope: place.scope, limit: place.timeout, bearings: bearings,
            client: client, loop: loop)
    }

    deinit { exchange?.cancel() }

    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        cancel()
        get(validators, by: loop.now.boot + place.timeout, isSecondTry: false)
    }

    package func stop() {
        cancel()
        exchange = nil
    }

    private func cancel() {
        tokens.cancel()
        exchange?.cancel()
    }

    /// A token that was kept may be revoked: with a new one the template is asked for once more.
    private func get(_ validators: Validators, by deadline: Boottime, isSecondTry: Bool) {
        tokens.withToken(by: deadline) { [unowned self] result in
            do throws(Failure) {
                let request = request(validators, try result.get(), by: deadline)
                try send(request) { [unowned self] response in
                    if response.status == 401, !isSecondTry {
                        tokens.drop()
                        get(validators, by: deadline, isSecondTry: true)
                    } else {
                        end(response, isConditional: validators.etag != nil)
                    }
                }
            } catch {
                fail(error)
            }
        }
    }

    private func request(
        _ validators: Validators, _ token: String, by deadline: Boottime
    ) -> HTTPRequest {
        var headers = [
            Header("Accept", "application/json"), Header("User-Agent", agent),
            Header("Authorization", "Bearer \(token)"),
        ]
        if let etag = validators.etag { headers.append(Header("If-None-Match", etag)) }
        return HTTPRequest(
            url: place.url, headers: headers,
            timeout: max(deadline - loop.now.boot, .milliseconds(1)), maxBody: place.maxBody,
            keptOfRefusal: GoogleError.limit)
    }

    private func send(
        _ request: HTTPRequest, _ completion: @escaping (HTTPResponse) -> Void
    ) throws(Failure) {
        do throws(TransferError) {
            if exchange == nil { exchange = try Exchange(client) }
            var request = request
            request.keepOnThisMachine()
            try exchange?.send(request) { [unowned self] result in
                switch result {
                case .success(let response): completion(response)
                case .failure(let error): fail(Failure(deed, error, of: place.timeout))
                }
            }
        } catch {
            throw Failure(deed, error, of: place.timeout)
        }
    }

    private func end(_ response: HTTPResponse, isConditional: Bool) {
        let now = loop.now.wall
        do throws(Failure) {
            let date = response.date(now: now)
            switch response.status {
            case 200:
                let answer = try read(response, at: now)
                deliver(.fetched(name, .answer(answer), date: date))
            case 304 where isConditional:
                deliver(.fetched(name, .unchanged, date: date))
            case 404:
                throw Failure(
                    .invalid, "\(deed): no server template is published in this project")
            default:
                throw response.refusal(to: deed, now: now)
            }
        } catch {
            fail(error)
        }
    }

    /// The flags are stored as they came out, not the template: they are what decides.
    private func read(_ response: HTTPResponse, at now: Instant) throws(Failure) -> Answer {
        let object = try FlagDocument.parse(response.body)
        if let message = GoogleError.message(in: object) {
            throw Failure(.unreachable, "\(deed): \(message)")
        }
        let template = try Template(object)
        try editions.take(template.version, of: "template")
        let (flags, doubts) = template.flags(in: context, .real)
        deliver(.doubted(name, doubts.summed))
        return Answer(
            flags, validators: Validators(etag: response.validators.etag),
            version: template.version, fetchedAt: now)
    }

    private func fail(_ failure: Failure) {
        deliver(.fetched(name, .failure(failure)))
    }

    private var deed: String { "get the server template of '\(place.project)'" }
}
