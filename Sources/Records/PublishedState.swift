package import CivilTime
package import Decision
import Files
package import JSON

/// A `state.json` as its readers find it.
package struct PublishedState {
    /// The whole object, in the order of its members.
    package let object: JSON.Object
    package let state: State
    package let gate: Gate?
    package let validUntil: Instant
    package let bootID: String

    /// What is written in `folder`; nil where nothing is.
    package static func read(in folder: String) throws(UnreadableState) -> PublishedState? {
        let file = "\(folder)/\(FileName.state)"
        do {
            return try PublishedState(File.read(file, limit: sizeLimit))
        } catch let error as FileError where error.isNotFound {
            // A closing that could not be written leaves the marker alone.
            guard Marker(folder: folder).gate == .closed else { return nil }
            throw UnreadableState(problem: "\(error)", marker: .closed)
        } catch let error as FileError {
            throw UnreadableState(problem: "\(error)", marker: Marker(folder: folder).gate)
        } catch {
            throw UnreadableState(
                problem: "read '\(file)': \(error)", marker: Marker(folder: folder).gate)
        }
    }

    private init(_ bytes: [UInt8]) throws {
        object = try JSON.Value.parse(bytes, depthLimit: JSON.Value.ownDepthLimit).asObject()
        guard let state = State(rawValue: try object.string("state")) else {
            throw StoredFormError.wrong("state")
        }
        self.state = state
        gate = object["gate"]?.string.flatMap(Gate.init)
        validUntil = try object.instant("valid_until")
        bootID = try object.string("boot_id")
    }

    /// Whether the daemon that wrote it should still be there at `now`.
    package func isCurrent(at now: Instant) -> Bool { now <= validUntil }

    /// Many values of the largest body.
    private static let sizeLimit = 512 << 20
}

/// A service has files, and its state cannot be read.
package struct UnreadableState: Error, Hashable, CustomStringConvertible {
    /// What stands in the way: a sentence that names the file.
    package let problem: String
    /// What the marker says, a name that anybody can read; nil where there is none.
    package let marker: Gate?

    package var description: String {
        guard let marker else { return problem }
        return "\(problem); its marker says \(marker.rawValue)"
    }
}
