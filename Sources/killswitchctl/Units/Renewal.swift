import Decision
import Files
import Gates
import JSON
import Storage
import SystemdUnits

/// `killswitchctl attach --renew`, which the package calls at an upgrade: writes the drop-ins as this version does.
/// Those of the version before are renewed. Any other text stays: somebody has edited it.
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
                    try UnitDirectory.renewTarget(of: attachment, cause: Attachment.cause(of: text))
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

    /// Every drop-in of `attach` as the version before wrote it, with the present text, and those that were edited
    /// since.
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
        /// It is as the version before wrote it; this is the present text.
        case outdated(String)
        case edited
    }
}

extension Attachment {
    fileprivate var path: String { AttachmentFiles.dropIn(of: unit, for: service) }

    /// The command that has written a drop-in.
    fileprivate static func cause(of text: String) -> String {
        String(text.prefix { $0 != "\n" }.dropFirst(head.count))
    }

    /// Compares the text of a drop-in with that of `attach`, whatever command the first line names.
    fileprivate func compare(_ text: String) -> Renewal.Finding {
        guard text.hasPrefix(Self.head) else { return .edited }
        let cause = Self.cause(of: text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let title = lines.first { $0.hasPrefix("Description=") }.map { "\($0)\n" } ?? ""
        let untitled = lines.filter { !$0.hasPrefix("Description=") }.joined(separator: "\n")
        let whole = dropIn(cause)
        if untitled == whole { return .current }
        return untitled == dropInBefore(cause) ? .outdated(whole + title) : .edited
    }

    /// The text of the version before, for a unit of the open gate; nil for others, whose text is the same.
    private func dropInBefore(_ cause: String) -> String? {
        guard target.kind == .open else { return nil }
        return """
            \(Self.head)\(cause)
            # "killswitchctl detach \(service) \(unit)" removes it.
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
