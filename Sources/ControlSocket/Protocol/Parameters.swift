import JSON

/// The parameters of a call, read one by one. A value of the wrong type throws `InvalidParameter` with
/// the parameter's name. A parameter that is null counts as left out.
struct Parameters {
    private let object: JSON.Object

    /// Throws for a parameter that the method lacks, as a typing error: half an order must not be carried out.
    init(_ object: JSON.Object, allowed: [String]) throws(MethodError) {
        for (key, _) in object where !allowed.contains(key) { throw .invalidParameter(key) }
        self.object = object
    }

    func string(_ key: String) throws(MethodError) -> String {
        guard let text = try optionalString(key) else { throw .invalidParameter(key) }
        return text
    }

    /// A string; nil if it is left out.
    func optionalString(_ key: String) throws(MethodError) -> String? {
        try optional(key) { $0.string }
    }

    /// An integer; nil if it is left out.
    func optionalInteger(_ key: String) throws(MethodError) -> Int64? {
        try optional(key) { $0.number?.int64 }
    }

    /// A Boolean; false if it is left out.
    func bool(_ key: String) throws(MethodError) -> Bool { try optional(key) { $0.bool } ?? false }

    /// The name of a user, nil if it is left out. Without blanks and brackets it cannot look like more of a record.
    func userName(_ key: String) throws(MethodError) -> String? {
        guard let name = try optionalString(key) else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || "_-.@$+\\".utf8.contains(byte)
        }
        guard isName, (1...256).contains(name.utf8.count) else { throw .invalidParameter(key) }
        return name
    }

    /// A list of strings; empty if it is left out.
    func strings(_ key: String) throws(MethodError) -> [String] {
        let values = try optional(key) { $0.array } ?? []
        let texts = values.compactMap(\.string)
        guard texts.count == values.count else { throw .invalidParameter(key) }
        return texts
    }

    private func optional<Value>(
        _ key: String, _ read: (JSON.Value) -> Value?
    ) throws(MethodError) -> Value? {
        guard let value = object[key], value != .null else { return nil }
        guard let read = read(value) else { throw .invalidParameter(key) }
        return read
    }
}
