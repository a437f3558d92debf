import JSON
import SourceSettings

/// The keys of a `[source.NAME]` of type `firebase`, besides the keys of every type.
enum FirebaseKey: String, SettingKey {
    case project
    case apiKey = "api_key"
    case appID = "app_id"
    case baseURL = "base_url"
    case realtime
    case realtimeURL = "realtime_url"
    case installationsURL = "installations_url"
}

/// The keys of a `[source.NAME]` of type `firebase-server`, besides the keys of every type.
enum FirebaseServerKey: String, SettingKey {
    case project
    case credentials
    case baseURL = "base_url"
    case scope
    case randomizationID = "randomization_id"
    case signals
}

extension SourceType {
    static let firebase = SourceType(
        word: "firebase", keys: FirebaseKey.words, maxBody: firebaseMaxBody,
        read: { reader, limits in
            let project = reader.required(FirebaseKey.project, .projectID)
            let apiKey = reader.required(FirebaseKey.apiKey, .token)
            let appID = reader.required(FirebaseKey.appID, .token)
            let baseURL = reader.value(FirebaseKey.baseURL, .apiURL, default: remoteConfigURL)
            let realtime = reader.value(FirebaseKey.realtime, .bool, default: false)
            let realtimeURL = reader.value(
                FirebaseKey.realtimeURL, .apiURL,
                default: "https://firebaseremoteconfigrealtime.googleapis.com")
            let url = ValueType<String>.apiURL
            let installationsURL = reader.value(
                FirebaseKey.installationsURL,
                url.or("none", expected: "\(url.expected), or \"none\""),
                default: "https://firebaseinstallations.googleapis.com")
            if realtime, installationsURL == nil, let key = reader.member(FirebaseKey.realtime) {
                reader.report.error(
                    "'realtime' \(reader.place) needs an installation: 'installations_url' is "
                        + "\"none\"", at: key.keyOrigin)
            }
            guard let project, let apiKey, let appID else { return nil }
            return .firebase(
                FirebaseSettings(
                    project: project, apiKey: apiKey, appID: appID, baseURL: baseURL,
                    realtimeURL: realtime ? realtimeURL : nil,
                    installationsURL: installationsURL, limits: limits))
        })

    static let firebaseServer = SourceType(
        word: "firebase-server", keys: FirebaseServerKey.words, maxBody: firebaseMaxBody,
        read: { reader, limits in
            let project = reader.required(FirebaseServerKey.project, .projectID)
            let credential = reader.optional(FirebaseServerKey.credentials, .credential)
            let baseURL = reader.value(
                FirebaseServerKey.baseURL, .serviceURL(login: "'credentials'"),
                default: remoteConfigURL)
            let scope = reader.value(
                FirebaseServerKey.scope, .scope,
                default: "https://www.googleapis.com/auth/cloud-platform")
            let randomizationID = reader.optional(FirebaseServerKey.randomizationID, .text("id"))
            let signals = reader.optional(FirebaseServerKey.signals, .signals)
            guard let project else { return nil }
            return .firebaseServer(
                FirebaseServerSettings(
                    project: project, credential: credential, baseURL: baseURL, scope: scope,
                    randomizationID: randomizationID, signals: signals ?? [:], limits: limits))
        })

    /// In bytes. The values of a template may have a million characters, all of it twice that.
    private static let firebaseMaxBody = 8 << 20

    private static let remoteConfigURL = "https://firebaseremoteconfig.googleapis.com"
}

extension ValueType where Value == String {
    /// The id of a project of Google Cloud, or its number: it becomes a part of a path.
    fileprivate static var projectID: Self {
        .text("project", "write the id of the project: lower-case letters, digits and '-'") {
            let allowed = "abcdefghijklmnopqrstuvwxyz0123456789-".utf8
            return (1...63).contains($0.utf8.count) && $0.utf8.allSatisfy(allowed.contains)
        }
    }

    /// A word that may stand in a header.
    fileprivate static var token: Self {
        .text("value", "it is empty, or holds a blank or a non-ASCII character") {
            !$0.isEmpty && $0.isASCII(from: "!")
        }
    }

    /// One scope of OAuth or several, with blanks between.
    fileprivate static var scope: Self {
        .text("scope", "it is empty, or holds a non-ASCII character") {
            !$0.isEmpty && $0.isASCII(from: " ")
        }
    }

    /// The URL of a service that gets secrets: https, or http to this host; no query, no `/` at the end.
    fileprivate static func serviceURL(login: String) -> Self {
        .url(expected: "a URL such as \"https://flags.example.com\"", login: login) {
            url throws(ValueProblem) in
            guard !url.hasQuery else {
                throw .bad("URL", cause: "it has a query; paths are added to its end")
            }
            guard url.isHTTPS || url.isLoopback else {
                throw .bad("URL", cause: "write 'https://'; plain http is for this host alone")
            }
            return url.withoutTrailingSlashes
        }
    }

    fileprivate static var apiURL: Self { serviceURL(login: "'api_key'") }
}

extension ValueType where Value == JSON.Object {
    fileprivate static var signals: Self {
        Self(expected: "a table such as { tier = \"gold\", build = 42 }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            guard table.members.count <= 100 else {
                throw .bad("table", cause: "the service knows at most 100 signals")
            }
            var signals: [(String, JSON.Value)] = []
            for member in table.members {
                switch (member.node.value, member.node.value.json) {
                case (.string, let value?), (.integer, let value?), (.float, let value?):
                    signals.append((member.key, value))
                default:
                    throw .bad(
                        "signal",
                        cause: "the value of \(member.key.quoted) is \(member.node.value.noun), "
                            + "neither a string nor a finite number")
                }
            }
            // The order in the file makes no other host.
            return JSON.Object(signals.sorted { $0.0 < $1.0 })
        } write: { signals in
            signals.isEmpty ? "{}" : signals.toml
        }
    }
}
