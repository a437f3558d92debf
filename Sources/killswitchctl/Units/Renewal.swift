import Configuration
import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits
import _StringProcessing

/// `killswitchctl attach --renew`, which the package calls at an upgrade: what an earlier version has attached is
/// listed in the configuration, and the drop-ins become those of this version. Any other text stays: somebody has
/// edited it. No unit is stopped or started, and systemd is not needed.
enum Renewal {
    static func run(_ command: Attach) throws {
        let isDryRun = command.isDryRun
        let lock = try isDryRun ? nil : AttachmentLock.acquire(for: "attach --renew")
        defer { withExtendedLifetime(lock) {} }
        let attached = try AttachmentFiles.all()
        var (outdated, edited): ([Attachment], [Attachment]) = ([], [])
        for attachment in attached {
            switch try state(of: attachment) {
            case .current, .missing: continue
            case .outdated: outdated.append(attachment)
            case .edited: edited.append(attachment)
            }
        }
        let (file, listed) = try listed(attached)
        if !isDryRun {
            try permitted {
                if !listed.isEmpty { try file.write() }
                for attachment in outdated { try renew(attachment) }
            }
        }
        if command.json {
            let objects = { (attachments: [Attachment]) -> JSON.Value in
                .objects(
                    attachments.map {
                        [
                            "name": .string($0.unit.text), "service": .string($0.service.text),
                            "drop_in": .string($0.dropIn),
                        ]
                    })
            }
            printJSON(
                .object([
                    "dry_run": .bool(isDryRun), "listed": objects(listed),
                    "renewed": objects(outdated), "edited": objects(edited),
                ]))
        } else {
            let (list, renew) =
                isDryRun ? ("would list", "would renew") : ("listed", "renewed")
            for attachment in listed {
                let unit = "\(attachment.unit) of '\(attachment.service)'"
                printLine("\(list) \(unit) in \(AttachedFile.path)")
            }
            for attachment in outdated { printLine("\(renew) \(attachment.dropIn)") }
        }
        for attachment in edited {
            printError(
                "'\(attachment.dropIn)' is not as attach writes it, and is left unchanged; "
                    + "'killswitchctl attach \(attachment.service) \(attachment.unit)' replaces it")
        }
        guard !isDryRun, !command.skipsReload, !outdated.isEmpty else { return }
        if try BlockingSystemdClient.isNeeded { try BlockingSystemdClient().reload() }
    }

    private static func renew(_ attachment: Attachment) throws(FileError) {
        let text = try self.text(of: attachment) ?? ""
        let cause = self.cause(of: text)
        let title = text.split(separator: "\n").first { $0.hasPrefix("Description=") }
        try UnitDirectory.write(
            attachment, attachment.dropInText(cause) + (title.map { "\($0)\n" } ?? ""),
            isStarted: try UnitDirectory.isStarted(attachment), cause: cause)
    }

    // MARK: The list

    /// The file of `attach` with what an earlier version has attached by command, and these attachments. A trigger of a
    /// unit is attached with the unit, and is not listed.
    private static func listed(
        _ attached: [Attachment]
    ) throws -> (AttachedFile, [Attachment]) {
        var file = try orFail(.configuration) { try AttachedFile() }
        // A configuration that is refused lists nothing else for now.
        let units = readable {
            try LoadedConfiguration(reading: .standard, zones: .checkedElsewhere).settings.units
        }
        let ofCommands = try attached.filter { attachment in
            let isListed = units?[attachment.service]?.contains { $0.name == attachment.unit }
            return try !Self.isListed(attachment) && isListed != true
        }
        let systemd =
            try BlockingSystemdClient.isNeeded ? readable { try BlockingSystemdClient() } : nil
        let described = ofCommands.reduce(into: [UnitName: UnitDescription]()) { all, attachment in
            all[attachment.unit] = readable { try systemd?.describe(attachment.unit) } ?? nil
        }
        let new = ofCommands.filter { attachment in
            !ofCommands.contains { other in
                other.service == attachment.service
                    && described[other.unit]?.triggeredBy.contains(attachment.unit) == true
            }
        }
        for attachment in new {
            var unit = ConfiguredUnit(attachment.unit)
            (unit.kind, unit.isEarly) = (attachment.target.kind, attachment.isEarly)
            unit.isOnlyByGate = attachment.isDisabled
            unit.isAllowed = ProtectedUnit.reason(attachment.unit) != nil
            let isOneshot = described[attachment.unit].map { $0.isJob } ?? true
            unit.runsAtOpen =
                try isOneshot && !unit.kind.isHook && UnitDirectory.isStarted(attachment)
            file.add(unit, to: attachment.service)
        }
        return (file, new)
    }

    /// Whether a drop-in was written for a unit that the configuration lists. Those that an earlier version wrote for a
    /// command are not; a text that nobody can read counts as one of them.
    static func isListed(_ attachment: Attachment) throws(FileError) -> Bool {
        guard let text = try text(of: attachment) else {
            // Only the target's drop-in is there: the unit's has gone.
            return true
        }
        return cause(of: text) == Attachment.fromConfiguration
            || text.split(separator: "\n").contains { $0.hasPrefix(Attachment.listedLine) }
    }

    // MARK: Texts

    /// What the drop-ins of an attachment are, compared with what this version writes.
    enum State {
        /// One of them is not there.
        case missing
        case current
        /// They are as an earlier version wrote them.
        case outdated
        case edited
    }

    static func state(of attachment: Attachment) throws(FileError) -> State {
        guard let text = try text(of: attachment),
            try File.exists(attachment.targetDropIn)
        else { return .missing }
        guard text.hasPrefix(Attachment.head) else { return .edited }
        let cause = cause(of: text)
        let untitled = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("Description=") }.joined(separator: "\n")
        if untitled == attachment.dropInText(cause) { return .current }
        var other = attachment
        other.isDisabled.toggle()
        let forms = [attachment, other].map { $0.dropInText(cause) }
        if forms.contains(untitled) || forms.map(attachment.inFormerWords).contains(untitled) {
            return .outdated
        }
        return untitled == attachment.dropInBefore(cause) ? .outdated : .edited
    }

    private static func text(of attachment: Attachment) throws(FileError) -> String? {
        let read = { () throws(FileError) in try File.read(attachment.dropIn, limit: 64 << 10) }
        return try File.ifThere(read()).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The command that has written a drop-in.
    private static func cause(of text: String) -> String {
        String(text.prefix { $0 != "\n" }.dropFirst(Attachment.head.count))
    }
}

extension Attachment {
    /// A text of this version as it was when the command had another name.
    fileprivate func inFormerWords(_ text: String) -> String {
        text.replacing(
            "killswitchctl open \(service) --without-daemon",
            with: "killswitchctl unlock \(service)")
    }

    /// The text of the version before.
    fileprivate func dropInBefore(_ cause: String) -> String {
        let comment = "# \"killswitchctl detach \(service) \(unit)\" removes it."
        guard target.kind == .open else { return dropInText(cause, comment: comment) }
        return """
            \(Self.head)\(cause)
            \(comment)
            [Unit]
            # It stops with this target, and cannot be started without it.
            Requisite=\(target.name)
            After=\(target.name)
            # No start is accepted from the moment the service is closed, also while other units still stop.
            # Without the daemon: "killswitchctl unlock \(service)".
            AssertPathExists=!\(Directories.system)/\(service)/\(Gate.closed.rawValue)
            # If a start is refused, systemctl and the journal show this.
            Documentation=man:killswitchctl(1)

            """
    }
}
