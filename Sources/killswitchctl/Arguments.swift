import ArgumentParser
import CivilTime
import Configuration
import Decision
import EventLoop
import Files
import Gates
import JSON
import Storage
import SystemdUnits
import _StringProcessing

// The types of options and arguments, and the words that a shell completes them with. A function `read` turns a word
// into such a value. It throws a clause: the parser puts the word and the option before it.

/// A duration as in the configuration: `500ms`, `30s`, `5m`, `2h`, `7d`.
struct DurationArgument: CustomStringConvertible {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    static func read(_ word: String) throws -> DurationArgument {
        guard let duration = Duration(text: word) else {
            throw ValidationError(Duration.correction(of: word))
        }
        return DurationArgument(duration)
    }

    /// The duration as it would be typed.
    var description: String {
        let milliseconds = duration.microseconds / 1000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}

/// A time by RFC 3339, with an offset.
extension Instant: ExpressibleByArgument {
    init?(argument: String) {
        do { try self.init(rfc3339: argument) } catch { return nil }
    }

    static func read(_ word: String) throws -> Instant {
        guard let instant = Instant(argument: word) else {
            throw ValidationError("write it like \(example)")
        }
        return instant
    }

    /// A time in the past: by RFC 3339, or as a duration before now.
    static func readPast(_ word: String) throws -> Instant {
        if let duration = Duration(text: word) { return EventLoop.wallClock - duration }
        guard let instant = Instant(argument: word) else {
            let duration = Duration.meant(by: word).map { "write \($0.text)" }
            throw ValidationError(
                duration ?? "write how long ago, such as 24h, or \(Instant.example)")
        }
        return instant
    }

    /// A time as it is typed, for messages.
    static var example: String { "2027-03-01T12:00:00+09:00" }
}

extension FormatWord: ExpressibleByArgument {}

extension Name {
    static func read(_ word: String) throws -> Name {
        guard let name = Name(word) else { throw ValidationError("a name is \(rule)") }
        return name
    }
}

extension UnitName: ExpressibleByArgument {
    /// A unit's name; without a type it is a service.
    init?(argument: String) {
        let type = argument.split(separator: ".").last.map(String.init) ?? ""
        self.init(Self.isType(type) && argument.contains(".") ? argument : "\(argument).service")
    }

    static func read(_ word: String) throws -> UnitName {
        if let unit = UnitName(argument: word) { return unit }
        throw ValidationError(problem(of: word))
    }

    /// Why a word is no name of a unit.
    private static func problem(of word: String) -> String {
        guard let instance = instance(ofTemplate: word) else {
            return "it is not the name of a unit, such as 'web.service'"
        }
        return "a template needs an instance, because it never runs itself; name '\(instance)'"
    }
}

extension CompletionKind {
    /// The services that have files in the runtime directory.
    static var services: CompletionKind {
        orNone { words in try names(in: words) { FileName.service($0)?.text } }
    }

    /// The services that have files, and the words that `explain` knows.
    static var servicesAndWords: CompletionKind {
        .custom { words, _, _ in
            let services = readable { try names(in: words) { FileName.service($0)?.text } }
            return (services ?? []) + ExplainedWord.words
        }
    }

    /// The fields of the `state.json` of the service among the words.
    static var fields: CompletionKind {
        orNone { words in
            let published = try PublishedFiles(options(in: words))
            let states = try words.compactMap { ServiceName($0) }.compactMap(published.state)
            guard let object = states.first?.object else { return [] }
            return object.members.map(\.key)
                + object.object("values").members.map { "values.\($0.key)" }
        }
    }

    /// The units that `attach` has attached, to the service among the words if there is one.
    static var attachedUnits: CompletionKind {
        orNone { words in
            let attached = try AttachmentFiles.all()
            let own = attached.filter { words.contains($0.service.text) }
            return Set((own.isEmpty ? attached : own).map(\.unit.text)).sorted()
        }
    }

    /// The programs in the folders of `PATH`.
    static var programs: CompletionKind {
        .custom { _, _, _ in
            let folders = (environmentVariable("PATH") ?? "").split(separator: ":").map(String.init)
            return Set(folders.flatMap(entries)).sorted()
        }
    }

    /// The sources that have answered, by their marks in the runtime directory.
    static var sources: CompletionKind {
        orNone { words in
            try names(in: words) { entry in
                guard entry.hasPrefix(FileName.sourcePrefix) else { return nil }
                return SourceName(String(entry.dropFirst(FileName.sourcePrefix.count)))?.text
            }
        }
    }

    /// The units that can be attached, by their files (systemd.unit(5)); a template as `name@`.
    static var units: CompletionKind {
        .custom { _, _, _ in
            let folders = ["/etc", "/run", "/usr/local/lib", "/usr/lib"].map {
                "\($0)/systemd/system"
            }
            return Set(folders.flatMap(entries).compactMap(unit)).sorted()
        }
    }

    private static func unit(_ entry: String) -> String? {
        let kinds = [".service", ".socket", ".timer", ".path"]
        guard kinds.contains(where: entry.hasSuffix) else { return nil }
        let parts = entry.split(separator: "@", omittingEmptySubsequences: false)
        return parts.last?.first == "." ? parts.dropLast().joined(separator: "@") + "@" : entry
    }

    /// The words that `find` offers beside those typed so far; none after an error: a completion prints no messages.
    private static func orNone(
        _ find: @Sendable @escaping ([String]) throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, _ in readable { try find(words) } ?? [] }
    }

    /// The names in the directory of `--runtime-directory`, or in the default one.
    private static func names(in words: [String], _ name: (String) -> String?) throws -> [String] {
        try Directory.list(PublishedFiles(options(in: words)).directory).compactMap(name)
    }

    /// The options among the words that were typed so far.
    private static func options(in words: [String]) -> CommonOptions {
        let option = "--runtime-directory"
        let separate = words.firstIndex(of: option).flatMap { words.dropFirst($0 + 1).first }
        let joined = words.first { $0.hasPrefix("\(option)=") }?.dropFirst(option.count + 1)
        var options = CommonOptions()
        options.runtimeDirectory = separate ?? joined.map(String.init)
        return options
    }

    private static func entries(in folder: String) -> [String] {
        readable { try Directory.list(folder) } ?? []
    }
}
