import CivilTime
import Configuration
import Decision
import EventLoop
import Files
import Fleet
import Glibc
import HTTP
import JSON
import Reports
import Requests
import SourceSettings

/// Reads what the hosts have said in etcd: their briefs, then their signs of life, page by page, at the first member
/// that answers.
final class EtcdReader: FleetReader {
    let place: String
    let pause: Duration = .seconds(2)
    private let service: ServiceName
    private let cluster: EtcdSettings
    private let environment: HostEnvironment
    private let client: WebClient
    /// The token of the last login.
    private var token: String?

    /// How many keys a page has at first: about a megabyte.
    private static let pageSize = 1000
    /// A page of values that no host writes may be larger: then the pages get smaller, down to one key.
    private static let mostBytes = 4 << 20
    private static let mostHosts = 200_000
    private static let longestAnswer: Duration = .seconds(10)

    /// A reader by a source of the configuration. Throws unless it is one of type `etcd`.
    init(_ source: String, in configuration: String?, _ service: ServiceName) throws {
        let sources = try orFail(.configuration) {
            let places = try configuration.map(ConfigurationPlaces.beside) ?? .standard
            return try LoadedConfiguration(reading: places, zones: .checkedElsewhere).settings
                .sources
        }
        guard let found = sources.first(where: { $0.name.text == source }) else {
            let known = sources.filter { if case .etcd = $0.kind { true } else { false } }
            throw CommandFailure(
                .noSuchService,
                noSuch(
                    "source", source, known.map(\.name.text), orNone: "of type 'etcd' is configured"
                ))
        }
        guard case .etcd(let cluster) = found.kind else {
            throw CommandFailure(
                .usage, "source '\(source)' is not of type 'etcd'")
        }
        (self.service, self.cluster) = (service, cluster)
        let more = cluster.endpoints.count > 1 ? ", …" : ""
        place = "\(cluster.endpoints[0])\(more) at \(cluster.hostsPrefix)"
        environment = HostEnvironment(
            credentialsDirectory: unsafe getenv("CREDENTIALS_DIRECTORY").map {
                unsafe String(cString: $0)
            }, user: geteuid(), userAgent: WebClient.agent.value, stateDirectory: "")
        client = try WebClient()
    }

    func read(within limit: Duration) throws -> [HostFinding] {
        let end = EventLoop.bootClock + min(limit, Self.longestAnswer * 3)
        var first: String?
        for member in cluster.endpoints.indices {
            do {
                let findings = try read(at: member, until: end)
                guard !findings.isEmpty else {
                    throw CommandFailure(
                        "no host says in etcd at '\(cluster.hostsPrefix)' that it has the service '\(service)'"
                    )
                }
                return findings
            } catch let failure as CommandFailure {
                throw failure
            } catch {
                let operation = "read the keys at '\(cluster.endpoints[member])'"
                let detail = (error as? GatewayError)?.failure(of: operation).detail
                first = first ?? detail ?? "\(operation): \(error)"
                if EventLoop.bootClock >= end { break }
            }
        }
        throw CommandFailure("etcd: \(first ?? "no member has answered in time")")
    }

    private func read(at member: Int, until end: Boottime) throws -> [HostFinding] {
        var signs: [String: SignOfLife] = [:]
        try readKeys(with: cluster.signsPrefix, at: member, until: end) {
            signs[$0] = SignOfLife($1)
        }
        var found = FleetDocuments(about: service, at: EventLoop.wallClock)
        try readKeys(with: cluster.hostsPrefix, at: member, until: end) { machine, value in
            if value.count > HostBrief.sizeLimit {
                found.add(
                    unreadable:
                        "its brief has \(value.count) bytes, and \(HostBrief.sizeLimit) are the most",
                    of: machine)
            } else {
                found.add(value, of: machine, sign: signs[machine])
            }
        }
        return found.findings
    }

    /// Gives each key, less the prefix, with its value.
    private func readKeys(
        with prefix: String, at member: Int, until end: Boottime,
        _ body: (String, [UInt8]) -> Void
    ) throws {
        var (count, size) = (0, Self.pageSize)
        var last: [UInt8]?
        while true {
            let page: GatewayPage
            do {
                let question = GatewayRequest.page(of: prefix, after: last, atMost: size)
                page = try GatewayPage(ask(question, at: member, until: end), after: last, prefix)
            } catch TransferError.bodyOver where size > 1 {
                size = max(1, size / 8)
                continue
            } catch TransferError.bodyOver {
                throw CommandFailure("a value under '\(prefix)' is larger than any host writes")
            }
            for (key, value) in page.pairs {
                body(String(decoding: key.dropFirst(prefix.utf8.count), as: UTF8.self), value)
            }
            count += page.pairs.count
            guard count <= Self.mostHosts else {
                throw CommandFailure("more than \(Self.mostHosts) keys are under '\(prefix)'")
            }
            guard page.hasMore, let key = page.pairs.last?.key else { return }
            last = key
        }
    }

    /// The answer to a question. Throws what cannot be right at another member either as `CommandFailure`.
    private func ask(
        _ question: GatewayRequest, at member: Int, until end: Boottime
    ) throws -> JSON.Object {
        do {
            return try answerAfterLogin(to: question, at: member, until: end)
        } catch GatewayError.refused(let cause) {
            throw refusal(cause, at: member)
        } catch GatewayError.loginNeeded(let cause) {
            throw refusal(cause, at: member)
        }
    }

    /// The answer to a question, after a login where the cluster wants one.
    private func answerAfterLogin(
        to question: GatewayRequest, at member: Int, until end: Boottime
    ) throws -> JSON.Object {
        do {
            return try answer(to: question, at: member, until: end)
        } catch GatewayError.loginNeeded(let cause) {
            guard let login = cluster.login else { throw GatewayError.loginNeeded(cause) }
            token = nil
            let password = try orFail(.notPermitted) { try environment.password(login.password) }
            let logIn = GatewayRequest.authenticate(user: login.user, password: password)
            token = try answer(to: logIn, at: member, until: end).gatewayToken()
            return try answer(to: question, at: member, until: end)
        }
    }

    private func refusal(_ cause: String, at member: Int) -> CommandFailure {
        CommandFailure(
            .notPermitted,
            "etcd at '\(cluster.endpoints[member])': \(cause); the user of the source needs the right to read "
                + "what begins with '\(cluster.hostsStem)'")
    }

    private func answer(
        to question: GatewayRequest, at member: Int, until end: Boottime
    ) throws -> JSON.Object {
        var request = try orFail(.notPermitted) {
            try cluster.request(question, to: member, with: token, in: environment)
        }
        request.maxBody = Self.mostBytes
        let left = max(.milliseconds(1), end - EventLoop.bootClock)
        let response = try client.answer(
            to: request, within: min(left, Self.longestAnswer), from: cluster.endpoints[member])
        return try response.gatewayObject(now: EventLoop.wallClock)
    }
}
