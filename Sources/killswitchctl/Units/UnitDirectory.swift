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

    private static func removeFiles(of target: GateTarget, for unit: UnitName) throws(FileError) {
        try File.remove(link(from: target, to: unit))
        try File.remove(AttachmentFiles.dropIn(of: target, for: unit))
        try removeIfEmpty(wants(target))
        try removeIfEmpty(AttachmentFiles.folder(of: target))
    }

    private static func removeIfEmpty(_ folder: String) throws(FileError) {
        let names = try File.ifThere(Directory.list(folder))
        if names?.isEmpty == true { try Directory.remove(folder) }
    }

    private static func wants(_ target: GateTarget) -> String {
        "\(AttachmentFiles.path)/\(target.name).wants"
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
    var name: String { unit?.text ?? "" }
}

/// `killswitchctl attach --renew`, which the package calls at an upgrade: writes the drop-ins as this version does. One
/// that this version would only continue is renewed. Any other text stays: somebody has edited it.
enum Renewal {
    /// Brings the drop-ins up to date, and names those that somebody has edited. No unit is stopped or started.
    static func run(_ command: Attach) throws {
        let isDryRun = command.isDryRun
        if !isDryRun { try requireRoot("attach --renew") }
        let (outdated, edited) = try findings()
        if !isDryRun {
            try permitted {
                for (attachment, text) in outdated {
                    try File.replace(attachment.path, with: Array(text.utf8), surviving: .powerLoss)
                }
            }
        }
        if command.json {
            let objects = { (attachments: [Attachment]) -> JSON.Value in
                .objects(
                    attachments.map {
                        [
                            "name": .string($0.unit.text), "service": .string($0.service.text),
                            "drop_in": .string($0.path),
                        ]
                    })
            }
            printJSON(
                .object([
                    "dry_run": .bool(isDryRun), "renewed": objects(outdated.map(\.attachment)),
                    "edited": objects(edited),
                ]))
        } else {
            let verb = isDryRun ? "would renew" : "renewed"
            for (attachment, _) in outdated { printLine("\(verb) \(attachment.path)") }
        }
        for attachment in edited {
            printError(
                "'\(attachment.path)' is not as attach writes it, and is left unchanged; "
                    + "'killswitchctl attach \(attachment.service) \(attachment.unit)' replaces it")
        }
        guard !isDryRun, !command.skipsReload, !outdated.isEmpty else { return }
        if try BlockingSystemdClient.isNeeded { try BlockingSystemdClient().reload() }
    }

    /// Every drop-in of `attach` whose text ends too early, with the whole text, and those that were edited since.
    private static func findings() throws(FileError) -> (
        outdated: [(attachment: Attachment, text: String)], edited: [Attachment]
    ) {
        var outdated: [(attachment: Attachment, text: String)] = []
        var edited: [Attachment] = []
        for attachment in try AttachmentFiles.all() {
            let bytes = try File.read(attachment.path, limit: 64 << 10)
            switch attachment.compare(String(decoding: bytes, as: UTF8.self)) {
            case .current: continue
            case .outdated(let text): outdated.append((attachment, text))
            case .edited: edited.append(attachment)
            }
        }
        return (outdated, edited)
    }

    /// What a drop-in is, compared with the text that this version of `attach` writes.
    fileprivate enum Finding {
        case current
        /// It ends before some of the text; this is the whole text.
        case outdated(String)
        case edited
    }
}

extension Attachment {
    fileprivate var path: String { AttachmentFiles.dropIn(of: unit, for: service) }

    /// Compares the text of a drop-in with that of `attach`, whatever command the first line names.
    fileprivate func compare(_ text: String) -> Renewal.Finding {
        let first = String(text.prefix { $0 != "\n" })
        guard first.hasPrefix(Self.head) else { return .edited }
        let cause = String(first.dropFirst(Self.head.count))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let untitled = lines.filter { !$0.hasPrefix("Description=") }.joined(separator: "\n")
        let whole = dropIn(cause)
        if untitled == whole { return .current }
        // Without its order a drop-in reads like that of an early unit.
        let isOrdered = !isEarly || lines.contains { $0.hasPrefix("# No After=") }
        let isCut = isOrdered && untitled.hasSuffix("\n") && whole.hasPrefix(untitled)
        return isCut ? .outdated(whole) : .edited
    }
}
