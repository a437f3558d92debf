import Decision
import Files
import Storage
import SystemdUnits

/// The units that the removal of the package has detached, for `killswitchctl attach --remembered` after the next
/// installation.
///
/// A line is a unit: the service, the state that it was attached to, the unit, `early` for one that starts before the
/// others are down, and `run-at-open` for one that the gate starts, as it does a oneshot service with that option.
/// The file is root's, unlike those in the state directory of the daemon.
enum DetachedUnits {
    /// Where they are.
    static let path = "/etc/killswitchd/detached-units"

    /// Writes down attachments that are going to be removed. Those of an earlier removal stay.
    static func remember(_ attachments: [Attachment]) throws {
        guard !attachments.isEmpty else { return }
        let before = try text().map { $0.split(separator: "\n").map(String.init) } ?? []
        let new = try attachments.map { attachment in
            let early = attachment.isEarly ? " early" : ""
            let isStarted = try File.exists(
                UnitDirectory.link(from: attachment.target, to: attachment.unit))
            let point = AttachmentPoint(attachment.target).rawValue
            return "\(attachment.service) \(point) \(attachment.unit)"
                + early + (isStarted ? " run-at-open" : "")
        }
        let lines = before.filter { !new.contains($0) } + new
        try Directory.create("/etc/killswitchd")
        try File.replace(
            path, with: Array((lines.joined(separator: "\n") + "\n").utf8), surviving: .powerLoss)
    }

    /// The remembered units. A line that cannot be read is left out.
    static func remembered() throws -> [AttachedGroup] {
        (try text() ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 3, let service = ServiceName(words[0]),
                let state = AttachmentPoint(rawValue: words[1]), let unit = UnitName(words[2])
            else { return nil }
            return AttachedGroup(
                service: service, units: [unit], state: state,
                isEarly: words.dropFirst(3).contains("early"),
                runsAtOpen: words.dropFirst(3).contains("run-at-open"))
        }
    }

    /// They are attached again.
    static func forget() throws { try File.remove(path) }

    private static func text() throws(FileError) -> String? {
        do {
            return String(decoding: try File.read(path, limit: 1 << 20), as: UTF8.self)
        } catch  where error.isNotFound {
            return nil
        }
    }
}
