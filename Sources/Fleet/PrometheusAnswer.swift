package import CivilTime
package import JSON
import Metrics

/// The answer to `PrometheusQuery`, by the HTTP API v1. Whatever is not as expected is a refusal of the whole answer or
/// an unknown host, never a host that has obeyed.
package struct PrometheusAnswer {
    private var targets: [PrometheusTarget.Address: PrometheusTarget] = [:]
    private var time: Instant?

    /// Why an answer says nothing of any host, as a clause about Prometheus.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Reads the body of an answer of status 200.
    package init(_ body: [UInt8]) throws(Refusal) {
        let data = try Self.data(in: body)
        guard data["resultType"]?.string == "vector", let samples = data["result"]?.array else {
            throw Refusal(description: "it answers with no vector of samples")
        }
        for sample in samples { try add(sample) }
        guard !samples.isEmpty else {
            throw Refusal(
                description:
                    "it knows no host with this service; it may have just started, or scrape no host"
            )
        }
    }

    /// Why the answer is none, by its status and body.
    package static func refusal(status: Int, body: [UInt8]) -> Refusal {
        guard !(300...399).contains(status) else {
            return Refusal(
                description: "it redirects (\(status)), which is not followed; correct the URL")
        }
        guard status != 401, status != 407 else {
            return Refusal(
                description:
                    "it answers with status \(status): it wants a login, and killswitchctl sends none"
            )
        }
        do {
            _ = try data(in: body)
            return Refusal(description: "it answers with status \(status)")
        } catch {
            let cause = error.description.hasPrefix("it refuses") ? ": \(error.description)" : ""
            return Refusal(description: "it answers with status \(status)\(cause)")
        }
    }

    /// The data of an answer that is a success, and whole.
    package static func data(in body: [UInt8]) throws(Refusal) -> JSON.Object {
        let value: JSON.Value
        do {
            value = try JSON.Value.parse(body)
        } catch {
            let start = body.first { !" \r\n\t".utf8.contains($0) }
            throw Refusal(
                description: start == UInt8(ascii: "<")
                    ? "it answers with a page of HTML, as a proxy or a login does"
                    : "its answer is no JSON: \(error)")
        }
        guard let status = value.object?["status"]?.string else {
            throw Refusal(description: "its answer is not that of the API of Prometheus")
        }
        guard status == "success", let data = value.object?["data"]?.object else {
            let error = value.object?["error"]?.string ?? "status '\(status)'"
            throw Refusal(description: "it refuses the query: \(error.printable(limit: 300))")
        }
        // Of a federated or remote store that did not answer: hosts may be missing.
        if let warning = value.object?["warnings"]?.array?.first {
            let text = (warning.string ?? "no text").printable(limit: 300)
            throw Refusal(description: "it answers with a part of the data: \(text)")
        }
        // VictoriaMetrics says so of a storage node that did not answer.
        switch value.object?["isPartial"] {
        case nil, .null, .bool(false): break
        default: throw Refusal(description: "it answers with a part of the data: isPartial is set")
        }
        return data
    }

    private mutating func add(_ sample: JSON.Value) throws(Refusal) {
        let metric = sample.object?["metric"]?.object
        let value = sample.object?["value"]?.array ?? []
        guard let metric, value.count == 2, let time = value[0].number?.double,
            let number = value[1].string, let moment = Instant(prometheus: time)
        else { throw Refusal(description: "it answers with a sample that is none") }
        guard self.time ?? moment == moment else {
            throw Refusal(description: "it answers with samples of several moments")
        }
        self.time = moment
        let labels: [String: String] = metric.members.reduce(into: [:]) {
            $0[$1.key] = $1.value.string
        }
        let address = PrometheusTarget.Address(
            instance: labels["instance"] ?? "", job: labels["job"] ?? "")
        targets[address, default: PrometheusTarget()].add(labels, number)
    }

    /// When Prometheus was started, by the body of `/api/v1/status/runtimeinfo`; nil where it does not tell.
    package static func start(in body: [UInt8]) -> Instant? {
        do {
            return try data(in: body)["startTime"]?.string.map { try Instant(rfc3339: $0) }
        } catch {
            return nil
        }
    }

    /// What is known of each host that has the service, or had it lately. After a `start` Prometheus answers with what
    /// it has stored before, until it has scraped a host again.
    package func findings(startedAt start: Instant?) -> [HostFinding] {
        guard let time else { return [] }
        let known = targets.filter { $0.value.hasService }
        let jobs = known.keys.reduce(into: [:]) { $0[$1.instance, default: 0] += 1 }
        let names = known.values.compactMap(\.name).reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return known.map { address, target in
            // A name that two targets have in common names none of them.
            let own = target.name.flatMap { names[$0] == 1 ? $0 : nil }
            let instance = address.instance.isEmpty ? "(no instance)" : address.instance
            let id = jobs[address.instance] == 1 ? instance : "\(instance) (job \(address.job))"
            let host = FleetHost(
                id: id, name: (own ?? id).printable(limit: 128),
                aliases: [instance, instance.withoutPort])
            return HostFinding(host, target.content(at: time, startedAt: start))
        }
    }
}

extension Instant {
    /// A time in seconds, as Prometheus writes it; nil if it is none.
    init?(prometheus seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 1e11 else { return nil }
        self.init(microseconds: Int64((seconds * 1_000_000).rounded()))
    }
}

extension String {
    /// A host without the port behind it: `web-1` of `web-1:9100`, `::1` of `[::1]:9100`.
    fileprivate var withoutPort: String {
        guard let colon = lastIndex(of: ":"), self[index(after: colon)...].allSatisfy(\.isNumber)
        else { return self }
        let host = self[..<colon]
        guard host.first == "[", host.last == "]" else {
            return host.contains(":") ? self : String(host)
        }
        return String(host.dropFirst().dropLast())
    }
}
