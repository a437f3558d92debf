import Decision
import Files
import JSON
import SystemdUnits

/// `killswitchctl attach --renew`: writes the drop-ins of attached units as this version writes them.
/// The package does that at an upgrade.
///
/// A drop-in that this version would only continue is renewed. Any other text is left as it is: somebody has edited
/// it.
enum Renewal {
    /// Performs the command: brings the drop-ins up to date, and names those that somebody has edited. No unit is
    /// stopped or started by that.
    static func run(isDryRun: Bool, skipsReload: Bool, json: Bool) throws {
        if !isDryRun { try requireRoot("attach --renew") }
        let (outdated, edited) = try findings()
        if !isDryRun {
            try permitted {
                for (attachment, text) in outdated {
                    try File.replace(
                        attachment.path, with: Array(text.utf8), surviving: .powerLoss)
                }
            }
        }
        if json {
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
        guard !isDryRun, !skipsReload, !outdated.isEmpty else { return }
        if try BlockingSystemdClient.isNeeded { try BlockingSystemdClient().reload() }
    }

    /// Reads every drop-in that `attach` has written: those whose text ends too early, with the whole text, and
    /// those that were edited since.
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
    /// The absolute path of the unit's drop-in.
    fileprivate var path: String { AttachmentFiles.dropIn(of: unit, for: service) }

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
