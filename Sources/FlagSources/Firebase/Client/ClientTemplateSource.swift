import CivilTime
package import Decision
import EventLoop
import HTTP
import JSON
import POSIX
import Requests
package import SourceSettings

/// Flags in the client template of a Firebase project, as the service evaluates it for this
/// installation: one POST for each fetch, and a stream of hints if the configuration enables it.
package final class ClientTemplateSource: FlagSource {
    private let settings: FirebaseSettings
    private let context: SourceDependencies
    private let fetch: Fetch
    private let installations: Installations
    private var versions = TemplateVersions()
    private var etag: String?
    private var tokenWarnings: [String] = []
    private var stream: Stream<InvalidationParser>?
    private var isStreaming = false
    private var timer: Timer?

    /// A source that fetches nothing yet.
    package init(_ settings: FirebaseSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        fetch = Fetch(
            "fetch the client template of '\(settings.project)'",
            limit: settings.limits.timeout, for: context)
        installations = Installations(for: settings, context)
    }

    package var name: SourceName { context.name }

    /// The service chooses the flags by project and app; the API key chooses nothing.
    package var fingerprint: String { "\(settings.fetchURL) \(settings.appID)" }

    /// Prepares the stream. It begins with the first token.
    package func start() {
        guard let url = settings.realtimeURL else { return }
        do throws(SystemError) {
            timer = try Timer(context.loop, accuracy: .milliseconds(50)) { [context] in
                context.deliver(.hinted(context.name))
            }
            // The service keeps each stream for some minutes, and may be silent all the time.
            stream = try Stream(
                for: context, StreamPolicy(silence: .seconds(330), firstWait: .seconds(15)),
                parser: { [unowned self] in
                    InvalidationParser { [unowned self] in versions.versionAnnounced($0) }
                }, request: { [unowned self] in try streamRequest(to: url) },
                explain: \.googleError,
                deliver: { [unowned self] in streamEvent($0) })
        } catch {
            context.deliverWatchProblem("\(error)")
        }
    }

    package func fetch(unlessMatching validators: Validators) {
        installations.cancel()
        fetch.start()
        get(validators)
    }

    package func forget() {
        versions = TemplateVersions()
        etag = nil
    }

    package func stop() {
        stream = nil
        isStreaming = false
        timer = nil
        installations.cancel()
        fetch.stop()
    }

    // MARK: - One fetch

    private func get(_ validators: Validators, isSecondTry: Bool = false) {
        guard settings.installationsURL != nil else { return send(validators, nil) }
        // The service gives flags without a token too: half of the time is kept for them.
        installations.withToken(by: fetch.deadline - fetch.timeLeft / 2) { [unowned self] result in
            switch result {
            case .success(let token):
                tokenWarnings = [installations.problem].compactMap(\.self)
                warn()
                send(validators, token, mayRenew: !isSecondTry)
                startStream()
            case .failure(let failure):
                let way = "\(failure.detail); asking without a token"
                tokenWarnings = [way, installations.problem].compactMap(\.self)
                warn()
                if stream != nil, !isStreaming { context.deliverWatchProblem(failure.detail) }
                send(validators, nil)
            }
        }
    }

    private func warn() {
        context.deliver(
            .warningsChanged(name, tokenWarnings + [versions.warning].compactMap(\.self)))
    }

    private func send(_ validators: Validators, _ token: String?, mayRenew: Bool = false) {
        var headers = settings.headers
        headers += [Header("User-Agent", context.environment.userAgent), .noCache]
        var body: JSON.Object = [
            "appId": .string(settings.appID),
            "appInstanceId": .string(installations.installation.id),
            "sdkVersion": .string(context.environment.sdkVersion), "languageCode": "en-US",
        ]
        if let token {
            headers.append(Header("X-Goog-Firebase-Installations-Auth", token))
            body["appInstanceIdToken"] = .string(token)
        }
        if let etag = validators.etag { headers.append(Header("If-None-Match", etag)) }
        let request = HTTPRequest.google(
            settings.fetchURL, headers: headers, body: body.bytes, maxBody: settings.limits.maxBody)
        fetch.send(request) { [unowned self] result in
            do throws(Failure) {
                let response = try result.get()
                // The token may be revoked, and a new token may be accepted.
                if mayRenew, response.status == 401 {
                    installations.dropToken()
                    return get(validators, isSecondTry: true)
                }
                let outcome = try outcome(of: response, isConditional: validators.etag != nil)
                context.deliverOutcome(outcome, of: response)
                stream?.pollSucceeded()
                if versions.needFetch() { hint(after: 1000...3000) }
            } catch {
                stream?.pollFailed(error)
                context.deliverOutcome(.failure(error))
            }
        }
    }

    private func outcome(
        of response: HTTPResponse, isConditional: Bool
    ) throws(Failure) -> Outcome {
        let now = context.now.wall
        switch response.status {
        case 200:
            guard let (flags, version) = try response.clientFlags(isConditional: isConditional)
            else { return .unchanged }
            try versions.record(version)
            warn()
            etag = response.etag
            return .answer(
                Answer(flags, validators: Validators(etag: etag), version: version, fetchedAt: now))
        case 304 where isConditional: return .unchanged
        default: throw response.googleRefusal(of: fetch.operation, now: now)
        }
    }

    // MARK: - The stream

    private func startStream() {
        guard let stream, !isStreaming else { return }
        isStreaming = true
        context.deliverWatchProblem(nil)
        stream.start()
    }

    /// Passes on an event of the stream. Hints wait up to three seconds: hosts do not all fetch at once.
    private func streamEvent(_ event: Event) {
        guard case .hinted = event else { return context.deliver(event) }
        hint(after: 0...3000)
    }

    private func hint(after milliseconds: ClosedRange<Int64>) {
        timer?.set(at: context.now.boot + .milliseconds(Int64.random(in: milliseconds)))
    }

    private func streamRequest(to url: String) throws(Failure) -> HTTPRequest {
        let installation = installations.installation
        guard let token = installation.freshToken(at: context.now.wall) else {
            throw Failure(.unreachable, "the installation has no token")
        }
        let known = versions.newest.map(String.init) ?? "0"
        let body: JSON.Object = [
            "project": .string(settings.project), "namespace": "firebase",
            "lastKnownVersionNumber": .string(known), "appId": .string(settings.appID),
            "sdkVersion": .string(context.environment.sdkVersion),
            "appInstanceId": .string(installation.id),
        ]
        let own = [
            Header("User-Agent", context.environment.userAgent),
            Header("X-Accept-Response-Streaming", "true"),
            Header("X-Goog-Firebase-Installations-Auth", token),
            Header("If-None-Match", etag ?? "*"),
        ]
        let path = "v1/projects/\(settings.project)/namespaces/firebase:streamFetchInvalidations"
        return .google("\(url)/\(path)", headers: settings.headers + own, body: body.bytes)
    }
}

extension FirebaseSettings {
    fileprivate var fetchURL: String {
        "\(baseURL)/v1/projects/\(project)/namespaces/firebase:fetch"
    }

    /// The headers of each request to the services.
    var headers: [Header] {
        [
            Header("Content-Type", "application/json"), Header("Accept", "application/json"),
            Header("X-Goog-Api-Key", apiKey),
        ]
    }
}

extension HTTPResponse {
    /// All of the flags in a success, where an absent flag has no value any more; nil if they are unchanged. An answer
    /// without flags is a failure, since it is not an order. The official clients would fall back to their defaults.
    func clientFlags(
        isConditional: Bool
    ) throws(Failure) -> (flags: JSON.Object, version: String?)? {
        let members = try FlagDocument.parse(body)
        if let message = members.googleError {
            throw Failure(.unreachable, "the server answers 200 with an error: \(message)")
        }
        let state =
            switch members["state"] {
            case nil, .null: "UPDATE"
            case .string(let word): word
            case let other?: throw Failure(.invalid, "its state is \(other.typeName)")
            }
        switch state {
        case "UPDATE":
            guard case .object(let entries) = members["entries"], !entries.isEmpty else {
                throw Failure(.invalid, "the answer holds no entries")
            }
            return (entries, members["templateVersion"]?.scalarText)
        case "NO_CHANGE" where isConditional: return nil
        case "NO_CHANGE":
            throw Failure(.invalid, "the answer says NO_CHANGE to a request without condition")
        case "NO_TEMPLATE":
            throw Failure(.invalid, "the project has no client template (NO_TEMPLATE)")
        case "EMPTY_CONFIG":
            throw Failure(.invalid, "the template holds nothing for this app (EMPTY_CONFIG)")
        case "INSTANCE_STATE_UNSPECIFIED":
            throw Failure(.unreachable, "the service does not know (INSTANCE_STATE_UNSPECIFIED)")
        default: throw Failure(.invalid, "the answer's state \(quoted(state)) is not known")
        }
    }
}
