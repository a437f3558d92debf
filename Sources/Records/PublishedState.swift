package import CivilTime
package import Decision
package import Files
package import JSON

/// A `state.json` as its readers find it.
package struct PublishedState {
    /// The whole object, in the order of its members.
    package let object: JSON.Object
    package let state: State
    package let gate: Gate?
    package let validUntil: Instant
    package let bootID: String

    /// What is written in `folder`; nil when nothing is, or nothing that is a state of ours.
    package static func read(in folder: String) throws(FileError) -> PublishedState? {
        let bytes: [UInt8]
        do {
            bytes = try File.read("\(folder)/\(FileName.state)", limit: sizeLimit)
        } catch  where error.isNotFound {
            return nil
        }
        return PublishedState(bytes)
    }

    package init?(_ bytes: [UInt8]) {
        guard
            case .success(.object(let object)) = Result(catching: { try JSON.Value.parse(bytes) }),
            let state = object["state"]?.string.flatMap(State.init),
            let validUntil = object["valid_until"]?.string.flatMap(Instant.init(published:)),
            let bootID = object["boot_id"]?.string
        else { return nil }
        self.object = object
        self.state = state
        gate = object["gate"]?.string.flatMap(Gate.init)
        self.validUntil = validUntil
        self.bootID = bootID
    }

    /// Whether the daemon that wrote it should still be there at `now`.
    package func isCurrent(at now: Instant) -> Bool { now <= validUntil }

    /// Two texts of a megabyte each, escaped, and the rest.
    private static let sizeLimit = 64 << 20
}

extension Instant {
    fileprivate init?(published text: String) {
        guard case .success(let instant) = Result(catching: { try Instant(rfc3339: text) })
        else { return nil }
        self = instant
    }
}
