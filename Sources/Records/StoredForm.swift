import CivilTime
import JSON

/// Why a file of the state directory cannot be read back.
enum StoredFormError: Error, CustomStringConvertible {
    case unknownSchema
    case wrong(String)

    var description: String {
        switch self {
        case .unknownSchema: "it was written by another version"
        case .wrong(let key): "member '\(key)' is missing or wrong"
        }
    }
}

/// Typed access to what we wrote ourselves.
extension JSON.Object {
    func string(_ key: String) throws(StoredFormError) -> String {
        guard let text = self[key]?.string else { throw .wrong(key) }
        return text
    }

    func array(_ key: String) throws(StoredFormError) -> [JSON.Value] {
        guard let array = self[key]?.array else { throw .wrong(key) }
        return array
    }

    func object(_ key: String) throws(StoredFormError) -> JSON.Object {
        guard let object = self[key]?.object else { throw .wrong(key) }
        return object
    }

    func instant(_ key: String) throws -> Instant {
        try Instant(rfc3339: try string(key))
    }
}

extension JSON.Value {
    func asObject() throws(StoredFormError) -> JSON.Object {
        guard let object else { throw .wrong("(whole)") }
        return object
    }
}
