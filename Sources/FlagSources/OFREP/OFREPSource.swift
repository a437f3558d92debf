import CivilTime
package import Decision
import Files
import HTTP
import JSON
package import SourceSettings

/// Flags as an OpenFeature server evaluates them for this host: all of them in one POST, and the
/// server's streams of events that hint at changes, if it offers streams.
///
/// The POST is made conditional by an ETag of this run alone. An answer of an earlier run may be
/// for another context: the host may have got another name, or another operating system.
package final class OFREPSource: FlagSource {
    private let settings: OFREPSettings
    private let context: SourceDependencies
    private let fetch: Fetch
    private let fingerprints: RequestFingerprint
    /// The body of each request: the context does not change while the process lives.
    private let body: [UInt8]
    private var streams: [EventStream] = []
    /// The binding of the newest good answer.
    private var bound: String?
    /// The binding of the newest good answer of this run: its ETag is sent under no other binding.
    private var answered: String?
    /// Whether the unusable addresses of streams were reported already.
    private var isOfferRefused = false
    /// The present warnings.
    private var warnings: [String] = []

    /// A source that fetches nothing yet.
    package init(_ settings: OFREPSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        fetch = Fetch(
            "evaluate at '\(settings.server.shownURL)'",
            limit: settings.server.limits.timeout, isDecidedOn: true, for: context)
        var bulk = settings.server
        bulk.url = settings.bulkURL
        fingerprints = RequestFingerprint(
            to: bulk, sending: JSON.Value.object(settings.context).serialized())
        let facts = context.environment.host.context(with: settings.context)
        body = (["context": .object(facts)] as JSON.Object).bytes
        let secrets = Result { try Secrets(of: settings.server, context.environment) }
        if case .success(let secrets) = secrets { bound = fingerprints.text(secrets) }
    }

    package var name: SourceName { context.name }

    package var fingerprint: String { bound ?? fingerprints.text(nil) }

    /// While the credentials cannot be read, they are assumed to be unchanged.
    package func matches(fingerprint stored: String) -> Bool {
        bound.map { $0.utf8.elementsEqual(stored.utf8) } ?? fingerprints.covers(stored)
    }

    /// Drops the warnings of another object for the same source. The first answer holds the addresses of the
    /// streams.
    package func start() { context.deliver(.warningsChanged(name, [])) }

    package func fetch(unlessMatching validators: Validators) {
        fetch.start()
        do {
            let secrets = try Secrets(of: settings.server, context.environment)
            let fingerprint = fingerprints.text(secrets)
            var request = settings.server.request(
                with: secrets, agent: context.environment.userAgent)
            request.url = settings.bulkURL + (streams.compactMap(\.refetch).last?.query ?? "")
            request.body = body
            request.keptOfRefusal = 4096
            request.headers.append(Header("Content-Type", "application/json"))
            var isConditional = false
            if answered == fingerprint, let etag = validators.etag {
                request.headers.append(Header("If-None-Match", etag))
                isConditional = true
            }
            fetch.send(request) { [unowned self] in responseArrived($0, fingerprint, isConditional)
            }
        } catch {
            fetchFailed(Failure(.unreachable, "\(error)"))
        }
    }

    package func answerDecided() { fetch.answerDecided() }

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
            let outcome: Outcome
            if response.status == 304, isConditional {
                outcome = .unchanged
            } else {
                let evaluations = try response.evaluations(of: fetch.operation, now: now)
                setStreams(evaluations.streams)
                // An ETag may stand for the flags of the server, and not for their evaluation.
                let isWhole = evaluations.unreadable.isEmpty
                outcome = .answer(
                    Answer(
                        body: evaluations.body, flags: evaluations.flags,
                        unreadable: evaluations.unreadable,
                        validators: Validators(etag: isWhole ? response.etag : nil),
                        version: evaluations.version.map(FlagVersion.ofAll), fetchedAt: now))
            }
            (bound, answered) = (fingerprint, fingerprint)
            for stream in streams { stream.stream?.pollSucceeded() }
            context.deliverOutcome(outcome, date: response.date(now: now))
        } catch {
            fetchFailed(error)
        }
    }

    private func fetchFailed(_ failure: Failure) {
        for stream in streams { stream.stream?.pollFailed(failure) }
        context.deliverOutcome(.failure(failure))
    }

    /// How many streams of a server are followed.
    private static let streamLimit = 4

    /// Follows the streams that the server offers now. A stream that is followed already goes on,
    /// though the server may give it another address in each answer, for example if the address
    /// holds a token: the next connection uses the newest address.
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
        if streams.count > addresses.count { streams.removeLast(streams.count - addresses.count) }
        for (index, address) in addresses.enumerated() {
            if index < streams.count {
                streams[index].address = address
            } else {
                do {
                    streams.append(try EventStream(at: address, settings, context))
                } catch {
                    context.deliverWatchProblem("\(error)")
                }
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
    /// The evaluations in the answer of a server.
    fileprivate func evaluations(
        of operation: String, now: Instant
    ) throws(Failure) -> Evaluations {
        guard status == 200 else {
            let isRefused = [401, 403, 407].contains(status)
            throw refusal(of: operation, because: isRefused ? nil : errorCode, now: now)
        }
        do throws(Failure) {
            return try Evaluations(body)
        } catch {
            throw Failure(
                error.kind, "\(operation): \(error.detail)", retryAfter: retryAfter(now: now))
        }
    }

    /// The error code of a refused request, if it looks like a code of the protocol.
    private var errorCode: String? {
        guard case .success(let object) = Result(catching: { try FlagDocument.parse(body) }),
            let code = object["errorCode"]?.string, code.utf8.count <= 40,
            code.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        return code
    }
}
