import Decision

/// One unit that is attached to one service by a file that we have written.
struct Attachment: Hashable {
    let target: GateTarget
    let unit: UnitName

    var service: ServiceName { target.service }

    /// The drop-in, as systemd.unit(5) reads it. `cause` is the command that it was written by.
    func dropIn(_ cause: String) -> String {
        let name = target.unit?.text ?? ""
        return """
            # Written by: \(cause)
            # "killswitchctl detach \(service) \(unit)" removes it.
            [Unit]
            # It stops with this target, and cannot be started without it.
            Requisite=\(name)
            After=\(name)

            """
    }

    /// The target that a drop-in names; nil where it names none of ours.
    static func target(in dropIn: String) -> GateTarget? {
        for line in dropIn.split(separator: "\n") where line.hasPrefix("Requisite=") {
            return UnitName(String(line.dropFirst("Requisite=".count))).flatMap { GateTarget($0) }
        }
        return nil
    }
}

/// The targets that units are attached to: open, or one of the states.
enum AttachmentPoint: String, CaseIterable {
    case open
    case countdown
    case updateRequired = "update-required"
    case maintenance
    case ended

    func target(of service: ServiceName) -> GateTarget {
        let kind: GateTarget.Kind =
            switch self {
            case .open: .open
            case .countdown: .countdown
            case .updateRequired: .updateRequired
            case .maintenance: .maintenance
            case .ended: .ended
            }
        return GateTarget(service: service, kind: kind)
    }
}
