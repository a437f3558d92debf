import ArgumentParser
import Decision
import Files
import Gates
import SystemdUnits
import _StringProcessing

/// The units that are to be attached to a target of a service.
struct AttachedGroup {
    let target: GateTarget
    let units: [UnitName]
    /// Whether the units start before the others are down.
    let isEarly: Bool
    let runsAtOpen: Bool
}

/// A kind of target on the command line: `--state` names the open gate or a state. A notice is none.
extension GateTarget.Kind: ExpressibleByArgument {
    init?(argument: String) {
        self.init(attachable: argument)
        if self == .notice { return nil }
    }

    static var allValueStrings: [String] {
        fixed.filter { $0 != .closed && $0 != .notice }.map(\.word)
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    var defaultValueDescription: String { word }

    /// The kind of this word, if units can be attached to it.
    fileprivate init?(attachable word: String) {
        guard let kind = Self.fixed.first(where: { $0.word == word }), kind != .closed else {
            return nil
        }
        self = kind
    }

    /// The option of the command line that names it.
    var option: String {
        switch self {
        case .open, .closed, .variant: ""
        case .notice: " --on \(word)"
        case .countdown, .updateRequired, .maintenance, .ended: " --state \(word)"
        }
    }

    /// Whether its units run behind a closed gate, so that they can start while others still stop.
    var isOfClosedGate: Bool { [.updateRequired, .maintenance, .ended].contains(self) }
}

/// The word of `--on`.
enum OnArgument: String, CaseIterable, ExpressibleByArgument {
    case notice
}

/// The name of a unit in which `%s` stands for the service.
struct UnitPattern: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        text = argument
        // Any name will do to see whether the rest of it is one.
        if unit(of: "a") == nil { return nil }
    }

    /// The unit of a service; nil if the name would be too long.
    func unit(of service: String) -> UnitName? {
        UnitName(argument: text.replacing("%s", with: service))
    }
}

/// The units that the removal of the package has detached, for `attach --remembered` after the next installation.
///
/// A line is a unit: the service, its state, the unit, `early` for one that starts before the others are down, and
/// `run-at-open` for one that the gate starts. The file is root's, unlike those in the state directory.
enum DetachedUnits {
    private static let path = "/etc/killswitchd/detached-units"

    /// Writes down attachments that are going to be removed. Those of an earlier removal stay.
    static func remember(_ attachments: [Attachment]) throws {
        guard !attachments.isEmpty else { return }
        let new = try attachments.map { attachment in
            let (target, unit) = (attachment.target, attachment.unit)
            let isStarted = try UnitDirectory.isStarted(attachment)
            return "\(target.service) \(target.kind.word) \(unit)"
                + (attachment.isEarly ? " early" : "") + (isStarted ? " run-at-open" : "")
        }
        let lines = try self.lines().filter { !new.contains($0) } + new
        try Directory.create("/etc/killswitchd")
        try File.replace(
            path, with: Array((lines.joined(separator: "\n") + "\n").utf8), surviving: .powerLoss)
    }

    /// The remembered units. A line that cannot be read is left out.
    static func remembered() throws -> [AttachedGroup] {
        try lines().compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 3, let service = ServiceName(words[0]),
                let kind = GateTarget.Kind(attachable: words[1]), let unit = UnitName(words[2])
            else { return nil }
            return AttachedGroup(
                target: GateTarget(service: service, kind: kind), units: [unit],
                isEarly: words.dropFirst(3).contains("early"),
                runsAtOpen: words.dropFirst(3).contains("run-at-open"))
        }
    }

    static func forget() throws { try File.remove(path) }

    private static func lines() throws(FileError) -> [String] {
        let bytes = try File.ifThere(File.read(path, limit: 1 << 20)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
