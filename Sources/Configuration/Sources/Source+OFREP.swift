import JSON
import SourceSettings

/// The keys of a `[source.NAME]` of type `ofrep`, besides those of every type and of connections.
enum OFREPKey: String, SettingKey {
    case url
    case context
    case streamHosts = "stream_hosts"
    case bearer
    case apiKey = "api_key"
}

extension SourceType {
    /// A server that evaluates flags for this host. No address implies it: https is a document.
    static let ofrep = SourceType(
        word: "ofrep", keys: OFREPKey.words + HTTPKey.wordsOfConnections,
        read: { reader, limits in
            let url = reader.required(OFREPKey.url, .serverURL)
            let context = reader.context()
            let hosts = reader.optional(
                OFREPKey.streamHosts,
                .origins(
                    "host", such: "https://events.example.com", login: "'bearer' or 'api_key'"))
            var settings = HTTPSettings(url: url ?? "", limits: limits)
            settings.credentials[.bearer] = reader.optional(OFREPKey.bearer, .secret)
            settings.credentials[.apiKey] = reader.optional(OFREPKey.apiKey, .secret)
            reader.readCertificates(into: &settings)
            guard let url else { return nil }
            reader.checkCredentials(for: [url], "'url' is")
            return .ofrep(
                OFREPSettings(server: settings, context: context, streamHosts: hosts ?? []))
        })
}

extension TableDecoder {
    /// The administrator's part of the context: any values, but the protocol's `targetingKey` is a text.
    fileprivate func context() -> JSON.Object {
        var context = JSON.Object()
        guard let table = table(OFREPKey.context) else { return context }
        for member in table.table.members {
            context[member.key] =
                member.key.hasSameBytes(as: "targetingKey")
                ? table.optional(member, .text("targeting key")).map(JSON.Value.string)
                : table.optional(member, .json)
        }
        return context
    }
}

extension ValueType where Value == String {
    /// The URL of a server, to which paths are added: without a query, and without `/` at the end.
    fileprivate static var serverURL: Self {
        .url(
            expected: "a URL such as \"https://flags.example.com\"",
            login: "'bearer' or 'api_key'"
        ) { url throws(ValueProblem) in
            guard !url.hasQuery else {
                throw .bad("URL", cause: "paths are added to it; leave out what follows '?'")
            }
            let text = url.withoutTrailingSlashes
            guard !text.split(separator: "/").dropFirst(2).contains("ofrep") else {
                throw .bad("URL", cause: "leave out '/ofrep' and what follows; it is added")
            }
            return text
        }
    }
}
