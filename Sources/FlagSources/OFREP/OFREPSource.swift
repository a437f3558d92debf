import CivilTime
package import Decision
import HTTP
import JSON
import Requests
package import SourceSettings

/// Flags as an OpenFeature server evaluates them for this host: all of them in one POST, and the
/// server's streams of events that hint at changes, if it offers streams.
///
/// The POST is made conditional by an ETag of this run alone. An answer of an earlier run may be
/// for another context: the host may have got another name, or another operating system.
package final class OFREPSource: FlagSource {
    /// The settings of the server, with the address of the evaluation of all flags.
    private let bulk: HTTPSettings
    private let settings: OFREPSettings
    private let context: SourceDependencies
    private let fetch: Fetch
    private var fingerprints: RequestFingerprint
    /// The body of each request: the context does not change while the process lives.
    private let body: [UInt8]
    private var streams: [EventStream] = []
    private var hasAnswered = false
    /// Whether the unusable addresses of streams were reported already.
    private var isOfferRefused = false
    private var warnings: [String] = []

    /// A source that fetches nothing yet.
    package init(_ settings: OFREPSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        fetch = Fetch(
            "evaluate at '\(settings.server.shownURL)'",
            limit: settings.server.limits.timeout, for: context)
        var bulk = settings.server
        bulk.url += "/ofrep/v1/evaluate/flags"
        self.bulk = bulk
        fingerprints = RequestFingerprint(
            to: bulk, sending: JSON.Value.object(settings.context).serialized(),
            context.environment)
        let facts = context.environment.host.context(with: settings.context)
        body = (["context": .object(facts)] as JSON.Object).bytes
    }

    package var name: SourceName { context.name }

    package var fingerprint: String { fingerprints.stored }

    package func matches(fingerprint stored: String) -> Bool { fingerprints.matches(stored) }

    /// Drops the warnings of an earlier object. The first answer brings the addresses of the streams.
    package func start() { context.deliver(.warningsChanged(name, [])) }

    package func fetch(unlessMatching validators: Validators) {
        fetch.start()
        do {
            let secrets = try Secrets(of: bulk, context.environment)
            let fingerprint = fingerprints.text(secrets)
            var request = try bulk.request(with: secrets, in: context.environment)
            request.url += streams.compactMap { $0.memory.popRefetch() }.last?.query ?? ""
            request.body = body
            request.keptOfRefusal = 4096
            request.headers.append(Header("Content-Type", "application/json"))
            let etag = hasAnswered && fingerprints.answered == fingerprint ? validators.etag : nil
            if let etag { request.headers.append(Header("If-None-Match", etag)) }
            fetch.send(request) { [unowned self] in responseArrived($0, fingerprint, etag != nil) }
        } catch {
            fetchFailed(Failure(.unreachable, "\(error)"))
        }
    }

    package func stop() {
        fetch.stop()
        streams = []
    }

    private func responseArrived(
        _ result: Result<HTTPResponse, Failure>, _ fingerprint: String, _ isConditional: Bool
    ) {
        do throws(Failure) {
            let response = try result.get()
            let now = context.now.wall
            let isUnchanged = response.status == 304 && isConditional
            let outcome = isUnchanged ? .unchanged : Outcome.answer(try answer(in: response, now))
            fingerprints.answered = fingerprint
            hasAnswered = true
            for stream in streams { stream.stream?.pollSucceeded() }
            context.deliverOutcome(outcome, of: response)
        } catch {
            fetchFailed(error)
        }
    }

    private func fetchFailed(_ failure: Failure) {
        for stream in streams { stream.stream?.pollFailed(failure) }
        context.deliverOutcome(.failure(failure))
    }

    private func answer(in response: HTTPResponse, _ now: Instant) throws(Failure) -> Answer {
        guard response.status == 200 else {
            let isRefused = [401, 403, 407].contains(response.status)
            throw response.refusal(
                of: fetch.operation, because: isRefused ? nil : response.errorCode, now: now)
        }
        let evaluations: Evaluations
        do throws(Failure) {
            evaluations = try Evaluations(response.body)
        } catch {
            throw Failure(
                error.kind, "\(fetch.operation): \(error.detail)",
                retryAfter: response.retryAfter(now: now))
        }
        setStreams(evaluations.streams)
        return Answer(
            body: evaluations.body, flags: evaluations.flags, unreadable: evaluations.unreadable,
            // An ETag may stand for the flags of the server, and not for their evaluation.
            validators: Validators(etag: evaluations.unreadable.isEmpty ? response.etag : nil),
            version: evaluations.version.map(FlagVersion.ofAll), fetchedAt: now)
    }

    private static let streamLimit = 4

    /// Follows the streams that the server offers now. A followed stream goes on when its address changes, such
    /// as one that holds a token: the next connection uses the newest.
    private func setStreams(_ entries: [EventStreamEntry]) {
        var accepted: [EventStreamAddress] = []
        var foreign: [String] = []
        for entry in entries {
            do throws(EventStreamAddress.Refusal) {
                accepted.append(
                    try EventStreamAddress(entry, of: settings.server.url, or: settings.streamHosts)
                )
            } catch {
                if case .foreign(let origin) = error, !foreign.contains(origin) {
                    foreign.append(origin)
                }
            }
        }
        warn(ofStreamsAt: foreign)
        let addresses = accepted.prefix(Self.streamLimit)
        streams.removeLast(max(0, streams.count - addresses.count))
        for (stream, address) in zip(streams, addresses) { stream.address = address }
        for address in addresses.dropFirst(streams.count) {
            do {
                streams.append(try EventStream(at: address, settings.server, context))
            } catch {
                context.deliverWatchProblem("\(error)")
            }
        }
        let isRefused = addresses.isEmpty && foreign.isEmpty && !entries.isEmpty
        guard isRefused != isOfferRefused else { return }
        isOfferRefused = isRefused
        let problem = "the server offers streams at addresses that are not accepted"
        context.deliverWatchProblem(isRefused ? problem : nil)
    }

    /// Warns of streams that are not followed, by their origins: the rest of an address may be a secret.
    private func warn(ofStreamsAt origins: [String]) {
        let warnings = origins.prefix(Self.streamLimit).map {
            "the server names a stream of events at \(quoted($0)), which is neither the host of 'url' "
                + "nor in 'stream_hosts'; it is not followed, and polls go on"
        }
        guard warnings != self.warnings else { return }
        self.warnings = warnings
        context.deliver(.warningsChanged(name, warnings))
    }
}

extension HTTPResponse {
    /// The error code of a refused request, if it looks like a code of the protocol.
    fileprivate var errorCode: String? {
        guard case .success(let object) = Result(catching: { try FlagDocument.parse(body) }),
            let code = object["errorCode"]?.string, code.utf8.count <= 40,
            code.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        return code
    }
}
