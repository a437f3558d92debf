import CivilTime
import Decision
import Files
import Fleet
import HTTP
import SourceSettings

/// Asks a Prometheus what it knows of the hosts: one instant query for each reading.
struct PrometheusReader: FleetReader {
    let place: String
    let pause: Duration = .seconds(2)
    private let question: HTTPRequest
    /// Whether nobody has said which Prometheus to ask.
    private let isDefault: Bool
    private let client: WebClient

    /// Where Debian's Prometheus answers.
    static let defaultURL = "http://127.0.0.1:9090"
    /// An answer has about 2 KiB for each host.
    private static let mostBytes = 64 << 20
    private static let longestAnswer: Duration = .seconds(10)

    /// A reader of this service. `named` is the part before `/api/v1/query`, and was checked; nil is the default.
    init(_ named: String?, _ service: ServiceName) throws {
        let url = named ?? Self.defaultURL
        isDefault = named == nil
        var base = url[...]
        while base.last == "/" { base.removeLast() }
        place = String(base)
        let limit = Self.longestAnswer.components.seconds - 1
        let query = PrometheusQuery.text(for: service).formEncoded
        question = HTTPRequest(
            url: "\(base)/api/v1/query",
            headers: [
                Header("Accept", "application/json"),
                Header("Content-Type", "application/x-www-form-urlencoded"), WebClient.agent,
            ],
            body: Array("query=\(query)&timeout=\(limit)s".utf8), maxBody: Self.mostBytes,
            keptOfRefusal: 4096, isDirect: WebAddress(url)?.host.isLoopbackHost ?? false)
        client = try WebClient()
    }

    /// Why this is no URL of a Prometheus, as a clause; nil if it is one.
    static func mistake(in url: String) -> String? {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            return "write it like \(defaultURL)"
        }
        guard url.withoutSecrets == url else {
            return "write it without user, password, query and fragment"
        }
        return WebAddress(url) == nil ? "it cannot be read; write it like \(defaultURL)" : nil
    }

    func read(within limit: Duration) throws -> [HostFinding] {
        let limit = min(limit, Self.longestAnswer)
        do {
            let response = try client.answer(to: question, within: limit, from: place)
            guard response.status == 200 else {
                throw PrometheusAnswer.refusal(status: response.status, body: response.body)
            }
            let answer = try PrometheusAnswer(response.body)
            return answer.findings(startedAt: start(within: limit))
        } catch {
            let hint =
                isDefault
                ? "; give --prometheus URL, or set 'prometheus' in [fleet] of the configuration"
                : ""
            throw CommandFailure("Prometheus at '\(place)': \(error)\(hint)")
        }
    }

    /// When Prometheus was started; nil of another server with the same API.
    private func start(within limit: Duration) -> Instant? {
        var request = question
        request.url = "\(place)/api/v1/status/runtimeinfo"
        request.body = nil
        request.headers = [Header("Accept", "application/json"), WebClient.agent]
        request.maxBody = 1 << 20
        let response = readable { try client.answer(to: request, within: limit, from: place) }
        guard let response, response.status == 200 else { return nil }
        return PrometheusAnswer.start(in: response.body)
    }
}
