package import Decision
package import SourceSettings

/// Whom the host tells what it is, by `[report]`.
package struct ReportSettings: Hashable, Sendable {
    /// The server that gets `host.json`; nil without `url`.
    package var server: HTTPSettings?
    /// The source whose cluster gets a brief; nil without `etcd`.
    package var cluster: SourceName?
    /// Over so long the hosts of a fleet tell of what they do at the same time.
    package var spread: Duration

    private static let spreads: ClosedRange<Duration> = .zero ... .seconds(3600)

    /// Reads the table; nil after an error. A server has the keys of a document that is fetched.
    init?(from reader: TableDecoder, _ sources: inout ConfiguredSources) {
        spread = reader.value(
            ReportKey.spread, .duration(in: Self.spreads), default: .seconds(60))
        if reader.member(ReportKey.etcd) != nil {
            let known = sources
            let type = ValueType<SourceName>(expected: "the name of a source", text: \.text) {
                text throws(ValueProblem) in try known.cluster(forReports: text)
            }
            guard let name = reader.optional(ReportKey.etcd, type) else { return nil }
            cluster = name
            sources.use(name)
            guard reader.member(HTTPKey.url) != nil else {
                reader.refuseKeys(notIn: ReportKey.words)
                return
            }
        }
        reader.refuseKeys(notIn: HTTPKey.words + ReportKey.words)
        let timeout = reader.value(
            ReportKey.timeout, .duration(in: Source.timeouts), default: FetchLimits.defaultTimeout)
        guard case .http(let settings) = SourceType.http.read(reader, FetchLimits(timeout: timeout))
        else { return nil }
        server = settings
    }
}
