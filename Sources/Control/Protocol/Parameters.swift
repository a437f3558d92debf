package import JSON

/// The parameters of a call, read one by one. A wrong type is the error `InvalidParameter`, which
/// names it.
package struct Parameters {
    private let object: JSON.Object

    /// Refuses parameters that the method does not have: most likely a slip of the pen, and an order
    /// must not be half understood.
    package init(_ object: JSON.Object, allowed: [String]) throws(MethodError) {
        for (key, _) in object where !allowed.contains(key) { throw .invalidParameter(key) }
        self.object = object
    }

    /// Nil where it is left out or null.
    func optionalString(_ key: String) throws(MethodError) -> String? {
        switch object[key] {
        case nil, .null: return nil
        case .string(let text): return text
        case .bool, .number, .array, .object: throw .invalidParameter(key)
        }
    }

    func string(_ key: String) throws(MethodError) -> String {
        guard let text = try optionalString(key) else { throw .invalidParameter(key) }
        return text
    }

    func optionalInteger(_ key: String) throws(MethodError) -> Int64? {
        switch object[key] {
        case nil, .null:
            return nil
        case .number(let number):
            guard let integer = number.int64 else { throw .invalidParameter(key) }
            return integer
        case .bool, .string, .array, .object:
            throw .invalidParameter(key)
        }
    }

    /// False where it is left out or null.
    func bool(_ key: String) throws(MethodError) -> Bool {
        switch object[key] {
        case nil, .null: return false
        case .bool(let value): return value
        case .number, .string, .array, .object: throw .invalidParameter(key)
        }
    }

    /// Empty where it is left out or null.
    func strings(_ key: String) throws(MethodError) -> [String] {
        switch object[key] {
        case nil, .null:
            return []
        case .array(let values):
            var texts: [String] = []
            for value in values {
                guard let text = value.string else { throw .invalidParameter(key) }
                texts.append(text)
            }
            return texts
        case .bool, .string, .number, .object:
            throw .invalidParameter(key)
        }
    }
}
