package import CivilTime
package import Decision
import Files
package import JSON

/// `state.json`: the whole verdict, for programs. Its members and their order are the contract's;
/// an absent fact is null, never left out. A value of the flags is on one line, whatever it is.
package struct StateFile {
    package static let schema: Int64 = 1

    package static func text(of record: Record, for service: Service, bootID: String) -> String {
        JSON.Value.object(json(of: record, for: service, bootID: bootID)).serialized(.outline)
            + "\n"
    }

    /// The whole object.
    package static func json(
        of record: Record, for service: Service, bootID: String
    ) -> JSON.Object {
        let verdict = record.verdict
        let time = { (instant: Instant?) -> JSON.Value in
            instant.map { .string(service.zone.rfc3339($0)) } ?? .null
        }
        return [
            "schema": .number(Number(schema)),
            "service": .string(service.name.text),
            "state": .string(verdict.state.rawValue),
            "gate": .optional(verdict.gate?.rawValue),
            "reason": .string(verdict.reason.slug.rawValue),
            "reason_text": .string(verdict.reason.sentence),
            "since": time(record.since),
            "ends_at": time(verdict.endsAt),
            "days_left": verdict.daysLeft.map { .number(Number(Int64($0))) } ?? .null,
            "title": .optional(verdict.title),
            "message": .optional(verdict.message),
            "retry_after": verdict.retryAfter.map { .number(Number($0.wholeSeconds)) } ?? .null,
            "variant": .optional(verdict.variant),
            "values": .object(verdict.values),
            "override": verdict.override.map { override in
                .object([
                    "state": .string(override.state.rawValue),
                    "reason": .string(override.cause),
                    "author": .string(override.author),
                    "since": time(override.since),
                    "until": time(override.until),
                ])
            } ?? .null,
            "source": .optional(verdict.source?.text),
            "version": .optional(verdict.version),
            "fetched_at": time(record.fetchedAt),
            "decided_at": time(record.decidedAt),
            "valid_until": time(record.validUntil),
            "stale": .bool(verdict.isStale),
            "generation": .number(Number(Int64(record.generation))),
            "boot_id": .string(bootID),
        ]
    }
}

extension JSON.Value {
    static func optional(_ text: String?) -> Self {
        text.map { .string($0) } ?? .null
    }
}

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
