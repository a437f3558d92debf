import Decision
import HTTP
import JSON
import SourceSettings

extension FirebaseSettings {
    /// The URL of a fetch.
    var fetchURL: String { "\(baseURL)/v1/projects/\(project)/namespaces/firebase:fetch" }

    /// The headers of each request to the services.
    var headers: [Header] {
        [
            Header("Content-Type", "application/json"), Header("Accept", "application/json"),
            Header("X-Goog-Api-Key", apiKey),
        ]
    }
}

/// The answer of the service to a fetch of the client template.
enum ClientAnswer {
    /// All of the flags: an absent flag has no value any more.
    case flags(JSON.Object, version: String?)
    case unchanged

    /// Reads the body of a success. An answer without flags is a failure, since it is not an order. The
    /// official clients would fall back to their defaults.
    init(_ body: [UInt8], isConditional: Bool) throws(Failure) {
        let members = try FlagDocument.parse(body)
        if let message = members.googleError {
            throw Failure(.unreachable, "the server answers 200 with an error: \(message)")
        }
        let state =
            switch members["state"] {
            case nil, .null: "UPDATE"
            case .string(let word): word
            case let other?: throw Failure(.invalid, "its state is \(other.typeName)")
            }
        switch state {
        case "UPDATE":
            guard case .object(let entries) = members["entries"], !entries.isEmpty else {
                throw Failure(.invalid, "the answer holds no entries")
            }
            self = .flags(entries, version: members["templateVersion"]?.scalarText)
        case "NO_CHANGE" where isConditional: self = .unchanged
        case "NO_CHANGE":
            throw Failure(.invalid, "the answer says NO_CHANGE to a request without condition")
        case "NO_TEMPLATE":
            throw Failure(.invalid, "the project has no client template (NO_TEMPLATE)")
        case "EMPTY_CONFIG":
            throw Failure(.invalid, "the template holds nothing for this app (EMPTY_CONFIG)")
        case "INSTANCE_STATE_UNSPECIFIED":
            throw Failure(.unreachable, "the service does not know (INSTANCE_STATE_UNSPECIFIED)")
        default: throw Failure(.invalid, "the answer's state \(quoted(state)) is not known")
        }
    }
}
