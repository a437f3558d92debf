import CivilTime
package import Decision
import HTTP
import JSON
import Requests
import Signing
package import SourceSettings

/// Flags in the server template of a Firebase project, which is evaluated on this host.
package final class ServerTemplateSource: FlagSource {
    package let fingerprint: String
    private let settings: FirebaseServerSettings
    private let context: SourceDependencies
    private let host: EvaluationContext
    private let fetch: Fetch
    private let tokens: AccessTokens
    private var versions = TemplateVersions()

    /// A source that fetches nothing yet.
    package init(_ settings: FirebaseServerSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        host = settings.context(on: context.environment.host)
        fingerprint = settings.fingerprint(in: host)
        fetch = Fetch(
            "get the server template of '\(settings.project)'",
            limit: settings.limits.timeout, for: context)
        tokens = AccessTokens(
            settings.credential, scope: settings.scope, limit: settings.limits.timeout, for: context
        )
    }

    package var name: SourceName { context.name }

    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        tokens.cancel()
        fetch.start()
        get(validators)
    }

    package func forget() { versions = TemplateVersions() }

    package func stop() {
        tokens.cancel()
        fetch.stop()
    }

    private func get(_ validators: Validators, isSecondTry: Bool = false) {
        tokens.withToken(by: fetch.deadline) { [unowned self] result in
            switch result {
            case .success(let token): send(validators, token, isSecondTry: isSecondTry)
            case .failure(let failure): context.deliverOutcome(.failure(failure))
            }
        }
    }

    private func send(_ validators: Validators, _ token: String, isSecondTry: Bool) {
        var headers = [
            Header("Accept", "application/json"),
            Header("User-Agent", context.environment.userAgent), .noCache,
            Header("Authorization", "Bearer \(token)"),
        ]
        if let etag = validators.etag { headers.append(Header("If-None-Match", etag)) }
        let request = HTTPRequest.google(
            settings.url, headers: headers, maxBody: settings.limits.maxBody)
        fetch.send(request) { [unowned self] result in
            do throws(Failure) {
                let response = try result.get()
                // The token may be revoked, and a new token may be accepted.
                if response.status == 401, !isSecondTry {
                    tokens.dropToken()
                    return get(validators, isSecondTry: true)
                }
                let outcome = try outcome(of: response, isConditional: validators.etag != nil)
                context.deliverOutcome(outcome, of: response)
            } catch {
                context.deliverOutcome(.failure(error))
            }
        }
    }

    private func outcome(
        of response: HTTPResponse, isConditional: Bool
    ) throws(Failure) -> Outcome {
        let now = context.now.wall
        switch response.status {
        case 200: return .answer(try read(response, at: now))
        case 304 where isConditional: return .unchanged
        case 404:
            throw Failure(
                .invalid, "\(fetch.operation): no server template is published in this project")
        default: throw response.googleRefusal(of: fetch.operation, now: now)
        }
    }

    /// Evaluates the template. The answer stores the flags and not the template, since they decide.
    private func read(_ response: HTTPResponse, at now: Instant) throws(Failure) -> Answer {
        let object = try FlagDocument.parse(response.body)
        if let message = object.googleError {
            throw Failure(.unreachable, "\(fetch.operation): \(message)")
        }
        let template = try Template(object)
        try versions.record(template.version)
        let (flags, warnings) = template.flags(in: host, .real)
        context.deliver(
            .warningsChanged(name, warnings.summed + [versions.warning].compactMap(\.self)))
        return Answer(
            flags, validators: Validators(etag: response.etag),
            version: template.version, fetchedAt: now)
    }
}

extension FirebaseServerSettings {
    /// The facts of this host. Percent conditions choose it by `randomizationID`, else by its machine id for
    /// this program; without either, none of them is true.
    fileprivate func context(on host: Host) -> EvaluationContext {
        let values = signals.compactMap { name, value in SignalValue(value).map { (name, $0) } }
        return EvaluationContext(
            randomizationID: randomizationID ?? host.machineID ?? "",
            signals: Dictionary(values) { _, last in last })
    }

    fileprivate var url: String {
        "\(baseURL)/v1/projects/\(project)/namespaces/firebase-server/serverRemoteConfig"
    }

    /// Identifies the template and the context of its evaluation, not the account: all read the same one. The 1 is
    /// the version of the evaluation, for a change of results: an unchanged template is not evaluated again.
    fileprivate func fingerprint(in context: EvaluationContext) -> String {
        let signals = context.signals.map { "\($0.key.text.utf8.count):\($0.key.text)=\($0.value)" }
        let host = ([context.randomizationID] + signals.sorted()).joined(separator: "\n")
        return "\(url) 1 \(SHA256.hexadecimal(of: Array(host.utf8)))"
    }
}

extension SignalValue {
    /// Nil unless it is a string or a number; the configuration accepts no other.
    fileprivate init?(_ value: JSON.Value) {
        switch value {
        case .string(let text): self = .text(text)
        case .number(let number):
            // 5.0 in the file is not 5: as texts they differ.
            if let whole = Int64(number.literal) {
                self = .integer(whole)
            } else if let double = number.double {
                self = .number(double)
            } else {
                return nil
            }
        case .null, .bool, .array, .object: return nil
        }
    }
}
