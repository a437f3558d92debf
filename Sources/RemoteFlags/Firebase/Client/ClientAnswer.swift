import Decision
import JSON

/// What the service says to a fetch of the client template.
enum ClientAnswer {
    /// These are all of the flags. Not one that is absent is left over from before.
    case flags(JSON.Object, version: String?)
    case unchanged

    /// Reads the body of a success. What the official clients turn into no flags at all, so that every
    /// service would fall back to its defaults, is a failure here: it is not an order.
    init(_ body: [UInt8], isConditional: Bool) throws(Failure) {
        let members = try FlagDocument.parse(body)
        if let message = GoogleError.message(in: members) {
            throw Failure(.unreachable, "the server answers 200 with an error: \(message)")
        }
        let state: String
        switch members["state"] {
        case nil, .null: state = "UPDATE"
        case .string(let word): state = word
        case let other?: throw Failure(.invalid, "its state is \(other.typeName)")
        }
        switch state {
        case "UPDATE":
            guard case .object(let entries) = members["entries"], !entries.isEmpty else {
                throw Failure(.invalid, "the answer holds no entries")
            }
            self = .flags(entries, version: members["templateVersion"]?.scalarText)
        case "NO_CHANGE" where isConditional:
            self = .unchanged
        case "NO_CHANGE":
            throw Failure(.invalid, "the answer says NO_CHANGE to a request without condition")
        case "NO_TEMPLATE":
            throw Failure(.invalid, "the project has no client template (NO_TEMPLATE)")
        case "EMPTY_CONFIG":
            throw Failure(.invalid, "the template holds nothing for this app (EMPTY_CONFIG)")
        case "INSTANCE_STATE_UNSPECIFIED":
            throw Failure(.unreachable, "the service does not know (INSTANCE_STATE_UNSPECIFIED)")
        default:
            throw Failure(.invalid, "the answer's state \(quoted(state)) is not known")
        }
    }
}
