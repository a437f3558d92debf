import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// Writes and removes attachments in `/etc/systemd/system`.
enum UnitDirectory {
    /// The path of the link that makes a target start a unit.
    static func link(from target: GateTarget, to unit: UnitName) -> String {
        "\(wants(target))/\(unit)"
    }

    /// Writes the attachment of a part of a plan, in place of another attachment of the same unit and service.
    static func write(
        _ attachment: Attachment, _ part: AttachmentPlan.Part, cause: String
    ) throws(FileError) {
        let (unit, service) = (attachment.unit, attachment.service)
        let before = try AttachmentFiles.attachment(of: unit, for: service)
        if let before, before.target != attachment.target {
            try removeFiles(of: before.target, for: unit)
        }
        try Directory.create(AttachmentFiles.folder(of: unit))
        try File.replace(
            AttachmentFiles.dropIn(of: unit, for: service),
            with: Array(attachment.dropIn(cause, title: part.unit.title).utf8),
            surviving: .powerLoss)
        // By this the target stops the unit also when systemd has lost the unit's file.
        try Directory.create(AttachmentFiles.folder(of: attachment.target))
        try File.replace(
            AttachmentFiles.dropIn(of: attachment.target, for: unit),
            with: Array(attachment.stopDropIn(cause).utf8), surviving: .powerLoss)
        let link = link(from: attachment.target, to: unit)
        if let file = part.link {
            try Directory.create(wants(attachment.target))
            try SymbolicLink.replace(link, to: file)
        } else {
            try File.remove(link)
        }
    }

    /// Removes an attachment, and the folders that are empty then.
    static func remove(_ attachment: Attachment) throws(FileError) {
        let unit = attachment.unit
        try File.remove(AttachmentFiles.dropIn(of: unit, for: attachment.service))
        try removeIfEmpty(AttachmentFiles.folder(of: unit))
        try removeFiles(of: attachment.target, for: unit)
    }

    /// Removes a target's link to a unit, and its drop-in for the unit.
    private static func removeFiles(of target: GateTarget, for unit: UnitName) throws(FileError) {
        try File.remove(link(from: target, to: unit))
        try File.remove(AttachmentFiles.dropIn(of: target, for: unit))
        try removeIfEmpty(wants(target))
        try removeIfEmpty(AttachmentFiles.folder(of: target))
    }

    private static func removeIfEmpty(_ folder: String) throws(FileError) {
        do {
            if try Directory.list(folder).isEmpty { try Directory.remove(folder) }
        } catch  where error.isNotFound {}
    }

    private static func wants(_ target: GateTarget) -> String {
        "\(AttachmentFiles.path)/\(target.name).wants"
    }
}

extension Attachment {
    /// The object for programs.
    var object: JSON.Object {
        [
            "name": .string(unit.text), "service": .string(service.text),
            "target": .string(target.name),
        ]
    }

    /// The text of the drop-in, for systemd.unit(5). `cause` is the command that writes it, and `title` the
    /// description of the unit, if that is known.
    func dropIn(_ cause: String, title: String? = nil) -> String {
        let description = title.map { "Description=\(described($0))\n" } ?? ""
        return """
            \(Self.head)\(cause)
            # "killswitchctl detach \(service) \(unit)" removes it.
            [Unit]
            # It stops with this target, and cannot be started without it.
            Requisite=\(target.name)
            \(isEarly ? Self.early : "After=\(target.name)")
            \(assertion)# If a start is refused, systemctl and the journal show this.
            Documentation=man:killswitchctl(1)
            \(description)
            """
    }

    /// The description with the command that says why the unit may not run. An earlier attachment may have added
    /// one.
    private func described(_ title: String) -> String {
        let mark = " (kill switch: "
        var own = ""
        var rest = title[...]
        while let scalar = rest.first, !rest.hasPrefix(mark) {
            // systemd.unit(5) reads % as the start of a specifier.
            own += scalar == "%" ? "%%" : String(scalar)
            rest = rest.dropFirst()
        }
        return "\(own.printable)\(mark)killswitchctl explain \(service))"
    }

    /// The text of the target's drop-in for the unit.
    func stopDropIn(_ cause: String) -> String {
        let order = isEarly ? "" : "Before=\(unit)\n"
        return """
            \(Self.head)\(cause)
            # "killswitchctl detach \(service) \(unit)" removes it.
            [Unit]
            # The unit stops with this target also when its file is gone or it is masked: systemd does not read
            # the drop-in of the unit then.
            PropagatesStopTo=\(unit)
            \(order)
            """
    }

    /// In the place of the order. The target is active when the units of the open gate have stopped.
    private static let early =
        "# No After=: it starts while the units of the open gate still stop, and stops while they start."

    /// Empty for the states of a closed gate, whose units run while the marker says closed. systemd lets a start by
    /// hand replace the stop of the target, so that `Requisite=` alone does not refuse it while another unit still
    /// stops. It refuses none without `After=`, so that an early unit needs the marker too.
    private var assertion: String {
        let marker = "\(Directories.system)/\(service)/\(Gate.closed.rawValue)"
        return switch target.kind {
        case _ where isEarly:
            """
            # No start is accepted while the service is open.
            AssertPathExists=\(marker)

            """
        case .open, .countdown:
            """
            # No start is accepted from the moment the service is closed, also while other units still stop.
            # Without the daemon: "killswitchctl unlock \(service)".
            AssertPathExists=!\(marker)

            """
        case .closed, .updateRequired, .maintenance, .ended, .variant, .notice: ""
        }
    }
}

extension GateTarget {
    /// The name of the target's unit.
    var name: String { unit?.text ?? "" }
}
