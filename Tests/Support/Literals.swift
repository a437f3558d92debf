package import Decision

/// A test writes a name as a literal. A literal that is no name ends the test.
extension Name: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        guard let name = Self(text) else { preconditionFailure("'\(text)' is no name") }
        self = name
    }
}

extension UnitName: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        guard let name = Self(text) else { preconditionFailure("'\(text)' is no name of a unit") }
        self = name
    }
}

/// A name whose text is not a literal.
package func named<Thing>(_ text: String) throws -> Name<Thing> {
    guard let name = Name<Thing>(text) else { throw TestFailure("'\(text)' is no name") }
    return name
}

/// A name of a unit whose text is not a literal.
package func unitName(_ text: String) throws -> UnitName {
    guard let name = UnitName(text) else { throw TestFailure("'\(text)' is no name of a unit") }
    return name
}

/// A time as a transcript writes it.
package func secondsText(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))s" : "\(value)s"
}
