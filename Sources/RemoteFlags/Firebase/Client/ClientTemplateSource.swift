import CivilTime
package import Decision
import EventLoop
import Faults
import JSON
package import SourceKinds
import Transfer

/// Flags in the client template of a Firebase project, as the service evaluates it for this
/// installation: one POST for each fetch, and a stream of hints if the configuration enables it.
package final class ClientTemplateSource: FlagSource {
    private let site: ClientTemplateSite
    private let context: SourceContext
    private let fetch: Fetch
    private let installations: Installations
    private var versions = TemplateVersions()
    private var etag: String?
    /// The present warnings about the token.
    private var tokenWarnings: [String] = []
    private var stream: Stream<InvalidationParser>?
    private var isStreaming = false
    private var timer: Timer?

    /// A source that fetches nothing yet.
    package init(_ site: ClientTemplateSite, _ context: SourceContext) {
        self.site = site
        self.context = context
        fetch = Fetch(
            "fetch the client template of '\(site.project)'",
            limit: site.limits.timeout, isDecidedOn: true, for: context)
        installations = Installations(for: site, context)
    }

    package var name: SourceName { context.name }

    package var binding: String { site.binding }

    /// Prepares the stream. It begins with the first token.
    package func start() {
        guard let url = site.realtimeURL else { return }
        do throws(SystemError) {
            timer = try Timer(context.loop, accuracy: .milliseconds(50)) { [context] in
                context.deliver(.hinted(context.name))
            }
            // The service keeps each stream for some minutes, and may be silent all the time.
            stream = try Stream(
                for: context, StreamPolicy(silence: .seconds(330), firstWait: .seconds(15)),
                parser: { [unowned self] in
                    InvalidationParser { [unowned self] in versions.announce($0) }
                }, request: { [unowned self] in try streamRequest(to: url) },
                explain: { GoogleError.message(in: $0.body) },
                deliver: { [unowned self] in pass($0) })
        } catch {
            context.tell(problem: "\(error)")
        }
    }

    package func fetch(unlessMatching validators: Validators) {
        installations.cancel()
        fetch.begin()
        get(validators, isSecondTry: false)
    }

    package func forget() {
        versions = TemplateVersions()
        etag = nil
    }

    package func answerDecided() { fetch.answerDecided() }

    package func stop() {
        stream = nil
        isStreaming = false
        timer = nil
        installations.cancel()
        fetch.stop()
    }

    // MARK: - One fetch

    private func get(_ validators: Validators, isSecondTry: Bool) {
        guard site.installationsURL != nil else { return send(validators, nil) }
        // The service gives flags without a token too: half of the time is kept for them.
        installations.withToken(by: fetch.deadline - fetch.timeLeft / 2) { [unowned self] result in
            switch result {
            case .success(let token):
                tokenWarnings = [installations.problem].compactMap(\.self)
                warn()
                send(validators, token, isSecondTry: isSecondTry)
                followStream()
            case .failure(let failure):
                let way = "\(failure.detail); asking without a token"
                tokenWarnings = [way, installations.problem].compactMap(\.self)
                warn()
                if stream != nil, !isStreaming { context.tell(problem: failure.detail) }
                send(validators, nil)
            }
        }
    }

    private func warn() {
        context.deliver(.warned(name, tokenWarnings + [versions.warning].compactMap(\.self)))
    }

    private func send(_ validators: Validators, _ token: String?, isSecondTry: Bool = true) {
        var headers = site.headers
        headers.append(Header("User-Agent", context.environment.agent))
        var body: JSON.Object = [
            "appId": .string(site.appID), "appInstanceId": .string(installations.installation.id),
            "sdkVersion": .string(context.environment.sdkVersion), "languageCode": "en-US",
        ]
        if let token {
            headers.append(Header("X-Goog-Firebase-Installations-Auth", token))
            body["appInstanceIdToken"] = .string(token)
        }
        if let etag = validators.etag { headers.append(Header("If-None-Match", etag)) }
        let renew = { [unowned self] in
            installations.dropToken()
            get(validators, isSecondTry: true)
        }
        fetch.send(
            .google(
                site.fetchURL, headers: headers, body: body.bytes, maxBody: site.limits.maxBody),
            renew: isSecondTry ? nil : renew
        ) { [unowned self] in end($0, isConditional: validators.etag != nil) }
    }

    private func end(_ result: Result<HTTPResponse, Failure>, isConditional: Bool) {
        do throws(Failure) {
            let response = try result.get()
            let outcome = try outcome(of: response, isConditional: isConditional)
            context.end(outcome, date: response.date(now: context.now.wall))
            stream?.pollSucceeded()
            if versions.needFetch() { hint(after: 1000...3000) }
        } catch {
            stream?.pollFailed(error)
            context.end(.failure(error))
        }
    }

    private func outcome(
        of response: HTTPResponse, isConditional: Bool
    ) throws(Failure) -> Outcome {
        let now = context.now.wall
        switch response.status {
        case 200:
            switch try ClientAnswer(response.body, isConditional: isConditional) {
            case .unchanged: return .unchanged
            case .flags(let flags, let version):
                try versions.take(version)
                warn()
                etag = response.etag
                return .answer(
                    Answer(
                        flags, validators: Validators(etag: etag), version: version,
                        fetchedAt: now))
            }
        case 304 where isConditional: return .unchanged
        default: throw response.googleRefusal(of: fetch.operation, now: now)
        }
    }

    // MARK: - The stream

    private func followStream() {
        guard let stream, !isStreaming else { return }
        isStreaming = true
        context.tell(problem: nil)
        stream.start()
    }

    /// Passes on an event of the stream. Hints wait up to three seconds, so that hosts do not all
    /// fetch at once.
    private func pass(_ event: Event) {
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
            "project": .string(site.project), "namespace": "firebase",
            "lastKnownVersionNumber": .string(known), "appId": .string(site.appID),
            "sdkVersion": .string(context.environment.sdkVersion),
            "appInstanceId": .string(installation.id),
        ]
        let own = [
            Header("User-Agent", context.environment.agent),
            Header("X-Accept-Response-Streaming", "true"),
            Header("X-Goog-Firebase-Installations-Auth", token),
            Header("If-None-Match", etag ?? "*"),
        ]
        let path = "v1/projects/\(site.project)/namespaces/firebase:streamFetchInvalidations"
        return .google("\(url)/\(path)", headers: site.headers + own, body: body.bytes)
    }
}
