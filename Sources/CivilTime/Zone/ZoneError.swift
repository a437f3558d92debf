/// Why the bytes of a TZif file are not a zone.
package struct ZoneError: Error, Hashable, CustomStringConvertible {
    package let zone: String
    package let flaw: Flaw

    package enum Flaw: Error, Hashable {
        case notTZif
        /// Files of version 2 and later have a second header, with the 64-bit data.
        case noSecondHeader
        case unknownVersion(UInt8)
        /// The bytes end before this part of the file does.
        case truncated(Part)
        case leapSeconds
        case noTypes
        /// There must be as many of these indicators as types, or none.
        case strayIndicators
        case offsetOutOfRange(type: Int, seconds: Int)
        case noSuchDesignation(type: Int)
        case noSuchType(transition: Int)
        case unsorted(transition: Int)
        /// Something else stands at this character of the footer, counted from 1.
        case footer(String, expected: String, at: Int)
    }

    package enum Part: String, Sendable {
        case header
        case data = "data block"
        case footer
    }

    package var description: String {
        "read time zone '\(zone.excerpt)': \(flaw)"
    }
}

extension ZoneError.Flaw: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notTZif: "it does not begin with 'TZif'"
        case .noSecondHeader: "it has no second header, as its version asks for"
        case .unknownVersion(let byte): "unknown version byte \(byte)"
        case .truncated(let part): "it ends before its \(part.rawValue) does"
        case .leapSeconds: "it counts leap seconds, which the system clock does not"
        case .noTypes: "it has no local time type"
        case .strayIndicators: "its indicators are neither none nor one for each local time type"
        case .offsetOutOfRange(let type, let seconds):
            "local time type \(type) is \(seconds) s from UTC, which is not from "
                + "\(UTCOffset.range.lowerBound) to \(UTCOffset.range.upperBound)"
        case .noSuchDesignation(let type): "local time type \(type) has no designation"
        case .noSuchType(let transition): "transition \(transition) has no local time type"
        case .unsorted(let transition):
            "transition \(transition) is not later than the one before it"
        case .footer(let text, let expected, let column):
            "\(expected) expected at character \(column) of its footer '\(text.excerpt)'"
        }
    }
}
