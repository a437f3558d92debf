/// A time zone: the offset from UTC at each instant.
package struct Zone: Hashable, Sendable {
    package let name: String

    private init(name: String) { self.name = name }

    package static let utc = Zone(name: "UTC")
}
