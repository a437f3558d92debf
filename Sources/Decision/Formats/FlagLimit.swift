/// How much of something an answer may hold. It bounds what the services that read an answer cost, in time, in memory
/// and in files.
package enum FlagLimit: CaseIterable, Sendable {
    case windows, steps, title, message, version
    /// One remote value.
    case value
    /// All remote values of a service.
    case values

    /// The highest number that is allowed.
    package var count: Int {
        switch self {
        case .windows, .steps: 64
        case .title: 200
        case .message: 4000
        case .version: 256
        case .value: 16 << 10
        case .values: 64 << 10
        }
    }

    /// Throws for a flag that has more.
    func check(_ count: Int, of key: String) throws(InvalidFlag) {
        if count > self.count { throw .tooLarge(key: key, count: count, self) }
    }

    /// Why so many are too many: the end of a sentence that begins with the key.
    func clause(of count: Int) -> String {
        switch self {
        case .windows: "has \(count) windows, and at most \(self.count) are read"
        case .steps: "has \(count) steps, and at most \(self.count) are read"
        case .title, .message: "has \(count) characters, and at most \(self.count) are read"
        case .version, .value: "has \(count) bytes, and at most \(self.count) are read"
        case .values:
            "makes the values of the service \(count) bytes long, and at most \(self.count) are read"
        }
    }
}
