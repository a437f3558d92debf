import ArgumentParser
import Decision
import Gates
import JSON
import Storage
import SystemdUnits

// The orders whose only parameter is a name.

/// `killswitchctl activate [SERVICE]`
struct Activate: OrderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put stored flags in force that wait for the next start.",
        discussion: """
            For services with activation = "next-start", whose values do not change while they run.

            example: killswitchctl activate shop
            """)

    @OptionGroup var options: OrderOptions

    @Argument(
        help: "The service; by default every service.", completion: .services,
        transform: ServiceName.read)
    var service: ServiceName?

    var call: OrderCall { ("Activate", ["service": .optional(service?.text)]) }

    func lines(_ reply: OrderReply) -> [String] {
        let names = reply.object.strings("activated").joined(separator: ", ")
        let first =
            names.isEmpty
            ? "no flags were waiting, nothing has changed"
            : "in force now: the newest flags of \(names)"
        return [first] + reply.serviceLines
    }
}

/// `killswitchctl confirm SERVICE…`
struct Confirm: OrderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Allow closings and steps that are held.",
        discussion: """
            If too many services would close at once (close_at_once), they stay open until this \
            command. It also lets a step of a rollout come, or the turn of this host to open, that a \
            guard holds. Exit status: 1 if no named service was held.

            example: killswitchctl confirm shop
            """)

    @OptionGroup var options: OrderOptions

    @OptionGroup var services: OrderedServices

    var call: OrderCall { ("Confirm", ["services": .strings(services.named.map(\.text))]) }

    func lines(_ reply: OrderReply) -> [String] {
        let names = reply.object.strings("confirmed").joined(separator: ", ")
        return [names.isEmpty ? "nothing was held" : "confirmed: \(names)"] + reply.serviceLines
    }

    func hasFailed(_ reply: OrderReply) -> Bool { reply.object.strings("confirmed").isEmpty }
}

/// `killswitchctl forget SOURCE`
struct Forget: OrderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Delete the stored flags of a source and fetch them again.",
        discussion: """
            Also deletes the highest accepted version in the flags: needed if a source restarts at \
            a lower number. Keeps the highest version of signed documents, so that nobody can \
            replay an old one; --accepted-version --reason TEXT deletes that too.

            example: killswitchctl forget app
            """)

    @OptionGroup var options: OrderOptions

    @Flag(
        name: .customLong("accepted-version"),
        help: "Delete the highest version of signed documents too. Needs --reason.")
    var isVersionDropped = false

    @Option(help: ArgumentHelp("Why, for the journal.", valueName: "text")) var reason: String?

    @Argument(help: "The source.", completion: .sources, transform: SourceName.read)
    var source: SourceName

    func validate() throws {
        guard isVersionDropped == (reason != nil) else {
            throw ValidationError("give --accepted-version and --reason together")
        }
        if let reason, reason.isEmpty { throw ValidationError("--reason is empty") }
    }

    var call: OrderCall {
        ("Forget", ["source": .string(source.text), "versionReason": .optional(reason)])
    }

    func lines(_ reply: OrderReply) -> [String] {
        let outcome =
            isVersionDropped
            ? "its stored flags and the highest version of its signed documents are deleted; fetching "
                + "them again"
            : "its stored flags are deleted; fetching them again. The highest version of signed "
                + "documents stays"
        let services = reply.object.strings("services")
        return [
            "source '\(source)': \(outcome)",
            "\(services.joined(separator: ", ")): \(services.count == 1 ? "keeps its" : "keep their") "
                + "state until the source answers or first_timeout is over",
        ]
    }
}

/// `killswitchctl refresh [SOURCE]`
struct Refresh: OrderCommand, GateOrder {
    static let configuration = CommandConfiguration(
        abstract: "Fetch flags now, and show the results.",
        discussion: """
            Waits for the answer of the source, and exits with 1 if a fetch failed or the answer \
            is refused; the flags in force stay then. --wait, the default at a terminal, \
            also waits until the gates are as the flags say.

            example: killswitchctl refresh
            """)

    @OptionGroup var options: OrderOptions

    @OptionGroup var waiting: GateWaitOptions

    @Argument(
        help: "The source; by default every source.", completion: .sources,
        transform: SourceName.read)
    var source: SourceName?

    var call: OrderCall { ("Refresh", ["source": .optional(source?.text)]) }

    func lines(_ reply: OrderReply) -> [String] {
        reply.object.objects("fetched").map { fetch in
            "source '\(fetch.text("source"))': \(words(fetch))"
        } + reply.serviceLines
    }

    /// How a fetch has ended. Flags that were read before the command began are not new, but perhaps the caller's.
    private func words(_ fetch: JSON.Object) -> String {
        let problem = fetch["problem"]?.string
        switch fetch.text("outcome") {
        case "refused": return "REFUSED: \(problem ?? "")"
        case "waiting": return "read; it changes nothing yet"
        case "unchanged":
            guard let age = fetch["flagsAge"]?.number?.int64 else { return "unchanged" }
            let tenths = max(1, age / 100)
            return "already read \(tenths / 10).\(tenths % 10) s ago"
        case let outcome: return problem.map { "\(outcome): \($0)" } ?? outcome
        }
    }

    func hasFailed(_ reply: OrderReply) -> Bool {
        reply.object.objects("fetched").contains {
            ["failed", "refused"].contains($0.text("outcome"))
        }
    }
}

/// `killswitchctl reload`
struct ReloadCommand: OrderCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Have the daemon read its configuration again.",
        discussion: """
            An invalid configuration changes nothing: each error is printed with its file \
            and line, and the exit status is 78. Warnings are printed too. Waits until the units \
            that the configuration lists are attached. The exit status is 1 if it is in force, but \
            such a unit cannot be attached, or the list of signers of a source cannot be used.

            example: killswitchctl reload
            """)

    @OptionGroup var options: OrderOptions

    var call: OrderCall { ("Reload", [:]) }

    func lines(_ reply: OrderReply) -> [String] {
        let (services, sources) = (names(reply.object, "service"), names(reply.object, "source"))
        var lines = ["the configuration is in force: \(services); \(sources)"]
        lines += reply.object.strings("warnings").map { "warning: \($0)" }
        lines += orphans(reply.object)
        lines += reply.object.strings("problems").map { "problem: \($0)" }
        lines += units(reply.object, "attached", "to")
        lines += units(reply.object, "detached", "from")
        lines += reply.object.objects("unattached").map {
            "\($0.text("service")): unit '\($0.text("name"))': \($0.text("problem"))"
        }
        return lines
    }

    func hasFailed(_ reply: OrderReply) -> Bool {
        !(reply.object.objects("unattached").isEmpty && reply.object.strings("problems").isEmpty)
    }

    private func units(_ reply: JSON.Object, _ verb: String, _ preposition: String) -> [String] {
        reply.objects(verb).map {
            "\(verb) \($0.text("name")) \(preposition) '\($0.text("service"))'"
        }
    }

    /// A warning for each service that has attached units and is not configured any more.
    private func orphans(_ reply: JSON.Object) -> [String] {
        let configured = Set(reply.strings("services"))
        let attached: [Attachment]
        do {
            // Units are attached to the gates of the system's daemon alone.
            guard try PublishedFiles(options.common).directory == Directories.system else {
                return []
            }
            attached = try AttachmentFiles.all()
        } catch {
            return ["warning: \(error)"]
        }
        let orphans = attached.filter { !configured.contains($0.service.text) }
        return Dictionary(grouping: orphans, by: \.service).sorted { $0.key < $1.key }.map {
            let units = $0.value.map(\.unit.text).joined(separator: ", ")
            return "warning: service '\($0.key)' is not configured, but units are attached to it: "
                + "\(units); its gate stays as it is"
        }
    }

    /// `2 services (shop, web)`; of many only the first are named.
    private func names(_ reply: JSON.Object, _ thing: String) -> String {
        let names = reply.strings("\(thing)s")
        let more = names.count > 5 ? ", and \(names.count - 5) more" : ""
        let list = names.isEmpty ? "" : " (\(names.prefix(5).joined(separator: ", "))\(more))"
        return "\(names.count) \(thing)\(names.count == 1 ? "" : "s")\(list)"
    }
}
