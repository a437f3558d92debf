package import JSON

/// Reads the body of an answer as flags: one JSON object, whose members they are.
///
/// What a misconfigured server sends instead is named, for that is what the administrator has to
/// find: an empty body, a web page, text that is no JSON.
package enum FlagDocument {
    package static func parse(_ body: [UInt8]) throws(Failure) -> JSON.Object {
        guard let first = body.first(where: { !isWhitespace($0) }) else {
            throw Failure(.invalid, "the answer is empty")
        }
        if first == UInt8(ascii: "<") {
            throw Failure(.invalid, "the answer is a web page, not JSON")
        }
        let value: JSON.Value
        do {
            value = try JSON.Value.parse(body)
        } catch {
            throw Failure(.invalid, "the answer is not valid JSON: \(error)")
        }
        guard case .object(let flags) = value else {
            throw Failure(.invalid, "the answer is \(value.typeName), not a JSON object")
        }
        return flags
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
