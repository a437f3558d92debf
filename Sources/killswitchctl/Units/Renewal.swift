import Decision
import Files
import JSON
import SystemdUnits

/// `killswitchctl attach --renew`: writes the drop-ins of attached units as this version writes them.
/// The package does that at an upgrade.
///
/// A drop-in that this version would only continue is renewed. Any other text is left as it is: somebody has edited
/// it.
struct Renewal {
    /// One drop-in of `attach`.
    struct Part {
        let attachment: Attachment
        /// The absolute path of the drop-in.
        let path: String
        let finding: Finding
    }

    /// What a drop-in is, compared with the text that this version of `attach` writes.
    enum Finding: Hashable {
        case current
        /// It ends before some of the text; this is the whole text.
        case outdated(String)
        case edited
    }

    /// The drop-ins, by service and unit.
    let parts: [Part]

    /// Reads every drop-in that `attach` has written, and those that were edited since.
    init() throws(FileError) {
        var parts: [Part] = []
        for attachment in try AttachmentFiles.all() {
            let path = AttachmentFiles.dropIn(of: attachment.unit, for: attachment.service)
            let text = String(decoding: try File.read(path, limit: 64 << 10), as: UTF8.self)
            let finding = attachment.compare(text)
            parts.append(Part(attachment: attachment, path: path, finding: finding))
        }
        self.parts = parts
    }

    /// Writes the new text of every outdated drop-in. No unit is stopped or started by that.
    func write() throws(FileError) {
        for part in parts {
            guard case .outdated(let text) = part.finding else { continue }
            try File.replace(part.path, with: Array(text.utf8), surviving: .powerLoss)
        }
    }

    /// The drop-ins that are renewed.
    var outdated: [Part] {
        parts.filter { if case .outdated = $0.finding { true } else { false } }
    }

    /// The drop-ins that stay as they are.
    var edited: [Part] { parts.filter { $0.finding == .edited } }

    /// Performs the command: brings the drop-ins up to date, and names those that somebody has edited.
    static func run(isDryRun: Bool, skipsReload: Bool, json: Bool) throws {
        if !isDryRun { try requireRoot("attach --renew") }
        let renewal = try Renewal()
        if !isDryRun { try permitted { try renewal.write() } }
        if json {
            printJSON(renewal.report(isDryRun: isDryRun))
        } else {
            let verb = isDryRun ? "would renew" : "renewed"
            for part in renewal.outdated { printLine("\(verb) \(part.path)") }
        }
        for part in renewal.edited {
            printError(
                "'\(part.path)' is not as attach writes it, and is left unchanged; "
                    + "'killswitchctl attach \(part.attachment.service) \(part.attachment.unit)' "
                    + "replaces it")
        }
        guard !isDryRun, !skipsReload, !renewal.outdated.isEmpty else { return }
        if try BlockingSystemdClient.isNeeded { try BlockingSystemdClient().reload() }
    }

    /// The object for programs.
    func report(isDryRun: Bool) -> JSON.Value {
        let units = { (parts: [Part]) -> JSON.Value in
            .array(
                parts.map { part in
                    .object([
                        "name": .string(part.attachment.unit.text),
                        "service": .string(part.attachment.service.text),
                        "drop_in": .string(part.path),
                    ])
                })
        }
        return .object([
            "dry_run": .bool(isDryRun), "renewed": units(outdated), "edited": units(edited),
        ])
    }
}

extension Attachment {
    /// Compares the text of a drop-in with the text that `attach` writes for this attachment. The first line names
    /// the command, which may have been called in several ways.
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
