import CivilTime
package import Decision
package import EventLoop
import Faults
import JSON
package import SourceKinds
package import Transfer

/// Flags in the client template of a Firebase project, as the service evaluates it for this
/// installation: one POST for each fetch, and a stream that hints, where that is wanted.
package final class ClientTemplateSource: FlagSource {
    package let name: SourceName
    private let place: ClientTemplatePlace
    private let interval: Duration
    private let bearings: Bearings
    private let loop: EventLoop
    private let client: HTTPClient
    private let installations: Installations
    private let deliver: Deliver
    private var exchange: Exchange?
    private var editions = Editions()
    private var etag: String?
    private var chase = Chase()
    private var stream: Stream<InvalidationParser>?
    private var isStreaming = false
    private var timer: Timer?

    package init(
        name: SourceName, place: ClientTemplatePlace, interval: Duration, bearings: Bearings,
        client: HTTPClient, loop: EventLoop, deliver: @escaping Deliver
    ) {
        self.name = name
        self.place = place
        self.interval = interval
        self.bearings = bearings
        self.client = client
        self.loop = loop
        self.deliver = deliver
        installations = Installations(
            of: name, place, bearings: bearings, client: client, loop: loop)
    }

    deinit { exchange?.cancel() }

    package var binding: String { place.binding }

    /// The stream begins once there is a token for it.
    package func start() {
        guard let url = place.realtimeURL else { return }
        do throws(SystemError) {
            timer = try Timer(loop, accuracy: .milliseconds(50)) { [unowned self] in
                deliver(.hinted(name))
            }
            stream = try Stream(
                of: name, policy: Self.policy, interval: interval, client: client,
                loop: loop,
                parser: { [unowned self] in
                    InvalidationParser { [unowned self] version in
                        chase.note(version, newest: editions.newest)
                    }
                },
                request: { [unowned self] in try streamRequest(to: url) },
                explain: { GoogleError.message(in: $0.body) },
                deliver: { [unowned self] in pass($0) })
        } catch {
            deliver(.unwatched(name, problem: "\(error)"))
        }
    }

    package func fetch(unlessMatching validators: Validators) {
        cancel()
        get(validators, by: loop.now.boot + place.timeout, isSecondTry: false)
    }

    package func stop() {
        stream = nil
        isStreaming = false
        timer = nil
        cancel()
        exchange = nil
    }

    private func cancel() {
        installations.cancel()
        exchange?.cancel()
    }

    /// The service keeps each stream for some minutes, and need not say anything on it.
    private static let policy = StreamPolicy(silence: .seconds(330), firstWait: .seconds(15))

    /// A nudge is followed within three seconds, but not by all hosts at once.
    private func pass(_ event: Event) {
        guard case .hinted = event else { return deliver(event) }
        timer?.set(at: loop.now.boot + .milliseconds(Int64.random(in: 0...3000)))
    }

    // MARK: - One fetch

    private func get(_ validators: Validators, by deadline: Boottime, isSecondTry: Bool) {
        guard place.installationsURL != nil else { return send(validators, nil, by: deadline) }
        // The flags are worth more than the token: half of the time is for them.
        let now = loop.now.boot
        installations.withToken(by: now + (deadline - now) / 2) { [unowned self] result in
            switch result {
            case .success(let token):
                deliver(.doubted(name, [installations.problem].compactMap(\.self)))
                send(validators, token, by: deadline, isSecondTry: isSecondTry)
                followStream()
            case .failure(let failure):
                let doubts = ["\(failure.detail); asking without a token", installations.problem]
                deliver(.doubted(name, doubts.compactMap(\.self)))
                if stream != nil, !isStreaming {
                    deliver(.unwatched(name, problem: failure.detail))
                }
                send(validators, nil, by: deadline)
            }
        }
    }

    private func followStream() {
        guard let stream, !isStreaming else { return }
        isStreaming = true
        deliver(.unwatched(name, problem: nil))
        stream.start()
    }

    private func send(
        _ validators: Validators, _ token: String?, by deadline: Boottime,
        isSecondTry: Bool = true
    ) {
        var request = request(validators, token)
        request.timeout = max(deadline - loop.now.boot, .milliseconds(1))
        request.keepOnThisMachine()
        do throws(TransferError) {
            if exchange == nil { exchange = try Exchange(client) }
            try exchange?.send(request) { [unowned self] result in
                guard case .success(let response) = result, response.status == 401, !isSecondTry
                else { return end(result, isConditional: validators.etag != nil) }
                // A token that was kept may be revoked.
                installations.dropToken()
                get(validators, by: deadline, isSecondTry: true)
            }
        } catch {
            fail(Failure(deed, error, of: place.timeout))
        }
    }

    private func request(_ validators: Validators, _ token: String?) -> HTTPRequest {
        var headers = place.headers
        headers.append(Header("User-Agent", bearings.agent))
        var body: JSON.Object = [
            "appId": .string(place.appID), "appInstanceId": .string(installations.installation.id),
            "sdkVersion": .string(bearings.sdkVersion), "languageCode": "en-US",
        ]
        if let token {
            headers.append(Header("X-Goog-Firebase-Installations-Auth", token))
            body["appInstanceIdToken"] = .string(token)
        }
        if let etag = validators.etag { headers.append(Header("If-None-Match", etag)) }
        return HTTPRequest(
            url: place.fetchURL, headers: headers,
            body: Array(JSON.Value.object(body).serialized().utf8), maxBody: place.maxBody,
            keptOfRefusal: GoogleError.limit)
    }

    private func end(_ result: Result<HTTPResponse, TransferError>, isConditional: Bool) {
        do throws(Failure) {
            let response: HTTPResponse
            do throws(TransferError) { response = try result.get() } catch {
                throw Failure(deed, error, of: place.timeout)
            }
            let outcome = try outcome(of: response, isConditional: isConditional)
            deliver(.fetched(name, outcome, date: response.date(now: loop.now.wall)))
            stream?.pollSucceeded()
            goAfterVersion()
        } catch {
            fail(error)
        }
    }

    private func outcome(
        of response: HTTPResponse, isConditional: Bool
    ) throws(Failure) -> Outcome {
        let now = loop.now.wall
        switch response.status {
        case 200:
            switch try ClientAnswer(response.body, isConditional: isConditional) {
            case .unchanged:
                return .unchanged
            case .flags(let flags, let version):
                try editions.take(version, of: "template")
                etag = response.validators.etag
                return .answer(
                    Answer(
                        flags, validators: Validators(etag: etag), version: version,
                        fetchedAt: now))
            }
        case 304 where isConditional:
            return .unchanged
        default:
            throw response.refusal(to: deed, now: now)
        }
    }

    private func fail(_ failure: Failure) {
        stream?.pollFailed(failure)
        deliver(.fetched(name, .failure(failure)))
    }

    private var deed: String { "fetch the client template of '\(place.project)'" }

    // MARK: - The stream

    /// The service may announce a version before it gives it.
    private func goAfterVersion() {
        guard chase.goesOn(newest: editions.newest) else { return }
        timer?.set(at: loop.now.boot + .milliseconds(Int64.random(in: 1000...3000)))
    }

    private func streamRequest(to url: String) throws(Failure) -> HTTPRequest {
        let installation = installations.installation
        guard let token = installation.freshToken(at: loop.now.wall) else {
            throw Failure(.unreachable, "the installation has no token")
        }
        let known = editions.newest.map(String.init) ?? "0"
        let body: JSON.Value = [
            "project": .string(place.project), "namespace": "firebase",
            "lastKnownVersionNumber": .string(known), "appId": .string(place.appID),
            "sdkVersion": .string(bearings.sdkVersion), "appInstanceId": .string(installation.id),
        ]
        let own = [
            Header("User-Agent", bearings.agent), Header("X-Accept-Response-Streaming", "true"),
            Header("X-Goog-Firebase-Installations-Auth", token),
            Header("If-None-Match", etag ?? "*"),
        ]
        let path = "v1/projects/\(place.project)/namespaces/firebase:streamFetchInvalidations"
        var request = HTTPRequest(
            url: "\(url)/\(path)", headers: place.headers + own,
            body: Array(body.serialized().utf8), timeout: place.timeout,
            keptOfRefusal: GoogleError.limit)
        request.keepOnThisMachine()
        return request
    }
}
