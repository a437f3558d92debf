package import Decision

/// The object of a unit on the bus: its name with every byte but letters and digits written as `_xx`.
package enum ObjectPath {
    static let manager = "/org/freedesktop/systemd1"
    private static let units = "/org/freedesktop/systemd1/unit/"

    /// The path of a unit's object.
    package static func of(_ unit: UnitName) -> String {
        var path = units
        for (position, byte) in unit.text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                path.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "0")...UInt8(ascii: "9") where position > 0:
                path.unicodeScalars.append(Unicode.Scalar(byte))
            default: path += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return path
    }

    /// The unit of an object; nil if the object is no unit.
    package static func unit(_ path: String) -> UnitName? {
        guard path.hasPrefix(units) else { return nil }
        var bytes: [UInt8] = []
        var rest = path.utf8.dropFirst(units.utf8.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            let code = String(decoding: rest.prefix(2), as: UTF8.self)
            guard code.utf8.count == 2, let decoded = UInt8(code, radix: 16) else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return UnitName(String(decoding: bytes, as: UTF8.self))
    }
}
