import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// Writes and removes the drop-ins of attachments.
enum UnitDirectory {
    /// The path of the link by which an earlier version made a target start a unit.
    private static func link(from target: GateTarget, to unit: UnitName) -> String {
        "\(wants(target))/\(unit)"
    }

    /// Writes the attachment of a part of a plan.
    static func write(
        _ attachment: Attachment, _ part: AttachmentPlan.Part, cause: String
    ) throws(FileError) {
        try write(
            attachment, attachment.dropInText(cause, title: part.unit.title),
            isStarted: part.isStarted, cause: cause)
    }

    /// Writes an attachment with this text of the unit's drop-in, in place of another attachment of the same unit and
    /// service, and of the link of an earlier version.
    static func write(
        _ attachment: Attachment, _ text: String, isStarted: Bool, cause: String
    ) throws(FileError) {
        let (target, unit) = (attachment.target, attachment.unit)
        if let before = try AttachmentFiles.attachment(of: unit, for: attachment.service),
            before.target != target || before.folder != attachment.folder
        {
            try remove(before)
        }
        // By the target's the target stops the unit also when systemd has lost the unit's file.
        for (path, text) in [
            (attachment.dropIn, text),
            (
                attachment.targetDropIn,
                attachment.targetDropInText(cause, isStarted: isStarted)
            ),
        ] {
            try Directory.create(folder(of: path))
            try File.replace(path, with: Array(text.utf8), surviving: .powerLoss)
        }
        try File.remove(link(from: target, to: unit))
        try removeIfEmpty(wants(target))
    }

    private static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    /// Whether the target starts the unit: by its drop-in, or by the link of an earlier version, which may lead
    /// nowhere.
    static func isStarted(_ attachment: Attachment) throws(FileError) -> Bool {
        let (target, unit) = (attachment.target, attachment.unit)
        let bytes = try File.ifThere(File.read(attachment.targetDropIn, limit: 64 << 10)) ?? []
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        if lines.contains("Wants=\(unit)") { return true }
        let link = link(from: target, to: unit)
        return try File.ifThere(File.attributes(of: link, followingLinks: false)) != nil
    }

    /// Removes an attachment, and the folders that are empty then.
    static func remove(_ attachment: Attachment) throws(FileError) {
        try File.remove(attachment.dropIn)
        try removeIfEmpty(folder(of: attachment.dropIn))
        try removeFiles(of: attachment)
    }

    /// Removes the target's side of an attachment.
    private static func removeFiles(of attachment: Attachment) throws(FileError) {
        let target = attachment.target
        try File.remove(link(from: target, to: attachment.unit))
        try File.remove(attachment.targetDropIn)
        try removeIfEmpty(wants(target))
        try removeIfEmpty(folder(of: attachment.targetDropIn))
    }

    private static func removeIfEmpty(_ folder: String) throws(FileError) {
        let names = try File.ifThere(Directory.list(folder))
        if names?.isEmpty == true { try Directory.remove(folder) }
    }

    private static func wants(_ target: GateTarget) -> String {
        "\(Attachment.folders[0])/\(target.name).wants"
    }
}

extension Attachment {
    var object: JSON.Object {
        [
            "name": .string(unit.text), "service": .string(service.text),
            "target": .string(target.name),
        ]
    }

    /// The text of the drop-in. `cause` is the command that writes it, `title` the description of the unit, if known.
    /// `comment` is the second line.
    func dropInText(_ cause: String, title: String? = nil, comment: String? = nil) -> String {
        let comment =
            comment
            ?? "\(Self.listedLine), which \"killswitchctl detach \(service) \(unit)\" changes."
        let description = title.map { "Description=\(described($0))\n" } ?? ""
        return """
            \(Self.head)\(cause)
            \(comment)
            [Unit]
            \(target.kind == .open ? refusal : requirement)\(earlyBoot)\(disabling)# If a start is refused, systemctl and the journal show this.
            Documentation=man:killswitchctl(1)
            \(description)
            """
    }

    /// How a unit of the open gate refuses starts: by the marker alone, so that a start by hand asks for no other unit,
    /// and takes back no stop that is under way.
    private var refusal: String {
        """
        # It stops with this target, by a drop-in of the target, and starts after it.
        After=\(target.name) killswitchd-decided.target
        # No start is accepted while the service is not open, also while other units still stop.
        # Without the daemon: "killswitchctl open \(service) --without-daemon".
        AssertPathExists=\(Directories.system)/\(service)/\(Gate.open.rawValue)

        """
    }

    /// systemd starts a socket and a path unit before all services, and the first decision comes after those: without
    /// the orderings of the early boot there is no cycle.
    private var earlyBoot: String {
        guard target.kind == .open, unit.type == "socket" || unit.type == "path" else { return "" }
        return """
            # It starts after the first decision: not before sockets.target or paths.target, which would be a cycle.
            DefaultDependencies=no
            Requires=sysinit.target
            After=sysinit.target
            Conflicts=shutdown.target
            Before=shutdown.target

            """
    }

    private var disabling: String {
        isDisabled
            ? "# It was enabled. It is disabled until it is detached, so that the gate alone starts it.\n\(Self.disabledLine)\n"
            : ""
    }

    /// The same for the target of a state, a variant or news.
    private var requirement: String {
        """
        # It stops with this target, and cannot be started without it.
        Requisite=\(target.name)
        \(isEarly ? Self.early : "After=\(target.name)")
        \(assertion)
        """
    }

    /// The description, less what an earlier attachment added, with the command that says why the unit may not run.
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
    func targetDropInText(_ cause: String, isStarted: Bool) -> String {
        let start =
            isStarted
            ? "# The target starts the unit. This is no link, which 'systemctl disable' would remove.\nWants=\(unit)\n"
            : ""
        let order = isEarly ? "" : "Before=\(unit)\n"
        return """
            \(Self.head)\(cause)
            [Unit]
            # The unit stops with this target also when its file is gone or it is masked: systemd does not read
            # the drop-in of the unit then.
            PropagatesStopTo=\(unit)
            \(start)\(order)
            """
    }

    /// In the place of the order. The target is active when the units of the open gate have stopped.
    private static let early =
        "# No After=: it starts while the units of the open gate still stop, and stops while they start."

    /// Empty for the states of a closed gate, whose units run beside the marker. A start by hand replaces the stop of
    /// the target, so that `Requisite=` alone does not refuse it; without `After=` it refuses none.
    private var assertion: String {
        let marker = "\(Directories.system)/\(service)/\(Gate.closed.rawValue)"
        return switch target.kind {
        case _ where isEarly:
            """
            # No start is accepted while the service is open.
            AssertPathExists=\(marker)

            """
        case .countdown:
            """
            # No start is accepted from the moment the service is closed, also while other units still stop.
            # Without the daemon: "killswitchctl open \(service) --without-daemon".
            AssertPathExists=!\(marker)

            """
        case .open, .closed, .updateRequired, .maintenance, .ended, .variant, .notice, .change: ""
        }
    }
}

extension GateTarget {
    var name: String { unit?.text ?? "" }
}
