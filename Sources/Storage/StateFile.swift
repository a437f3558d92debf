package import CivilTime
package import Decision
import Files
package import JSON

/// `state.json`: the whole verdict, for programs, as killswitchd(8) describes it. The order of the
/// members is fixed. An absent fact is null, never left out. Each value of the flags is on one line.
package enum StateFile {
    /// The bytes of the file.
    package static func bytes(of record: PublishedVerdict, for service: Service, bootID: String)
        -> [UInt8]
    {
        let value = JSON.Value.object(json(of: record, for: service, bootID: bootID))
        return value.serializedBytes(.outline, room: usualSize) + [UInt8(ascii: "\n")]
    }

    /// The size of a state without texts and values, in bytes.
    private static let usualSize = 1024

    package static func json(
        of record: PublishedVerdict, for service: Service, bootID: String
    ) -> JSON.Object {
        let published = PublishedFacts(record, of: service.name, bootID: bootID)
        return JSON.Object(
            PublishedFacts.fields.map {
                ($0.name, $0.value(in: published).json(in: service.zone))
            })
    }
}

/// The content of a `state.json`, for readers.
package struct PublishedState {
    /// The whole object, in the order of its members.
    package let object: JSON.Object
    package let state: State
    /// The gate; nil while the service is undecided.
    package let gate: Gate?
    /// When the file is out of date unless the daemon writes it again.
    package let validUntil: Instant
    package let bootID: String

    /// The file in a service's folder; nil without one. Throws if it is unreadable, or missing beside marker `closed`.
    package static func read(in folder: String) throws(UnreadableState) -> PublishedState? {
        let file = "\(folder)/\(FileName.state)"
        let read = { try PublishedState(File.read(FileName.state, of: folder, limit: sizeLimit)) }
        if case .success(let state) = Result(catching: read) { return state }
        let marker = Marker(folder: folder).gate
        do {
            // The daemon may have written both files between the two looks.
            return try read()
        } catch {
            let failure = error as? FileError
            // If a closing could not be written, only the marker says so.
            if let failure, failure.isNotFound, marker != .closed { return nil }
            throw UnreadableState(
                problem: failure?.description ?? "read '\(file)': \(error)", marker: marker)
        }
    }

    private init(_ bytes: [UInt8]) throws {
        object = try JSON.Value.parse(bytes, depthLimit: JSON.Value.ownDepthLimit).asObject()
        state = try object.state()
        gate = object["gate"]?.string.flatMap(Gate.init)
        validUntil = try object.instant("valid_until")
        bootID = try object.string("boot_id")
    }

    /// In bytes: far more than texts and values within their limits have.
    private static let sizeLimit = 8 << 20
}

/// A service has files, but its state cannot be read.
package struct UnreadableState: Error, Hashable, CustomStringConvertible {
    /// Why: a sentence that names the file.
    package let problem: String
    /// The gate by the marker, whose name everybody can read; nil without a marker.
    package let marker: Gate?

    package var description: String {
        guard let marker else { return problem }
        return "\(problem); its marker says \(marker.rawValue)"
    }
}
