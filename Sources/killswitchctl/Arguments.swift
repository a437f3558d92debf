import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Files
import Records
import Settings

// The types of options and arguments, and the words that a shell completes them with.

/// A duration as in the configuration: `500ms`, `30s`, `5m`, `2h`, `7d`.
struct DurationArgument: ExpressibleByArgument {
    /// The duration.
    let duration: Duration

    /// A default value.
    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    /// The duration as it would be typed.
    var defaultValueDescription: String {
        let milliseconds = duration.microseconds / 1000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}

/// A time by RFC 3339, with an offset.
extension Instant: ExpressibleByArgument {
    init?(argument: String) {
        do { try self.init(rfc3339: argument) } catch { return nil }
    }
}

/// A time in the past: by RFC 3339, or as a duration before now.
struct PastTimeArgument: ExpressibleByArgument {
    /// The time.
    let instant: Instant

    init?(argument: String) {
        let ago = Duration(text: argument).map { EventLoop.wallClock - $0 }
        guard let instant = ago ?? Instant(argument: argument) else { return nil }
        self.instant = instant
    }
}

/// A state that can be forced: any but `undecided`.
extension State: ExpressibleByArgument {
    init?(argument: String) {
        guard argument != State.undecided.rawValue else { return nil }
        self.init(rawValue: argument)
    }

    static var allValueStrings: [String] {
        allCases.filter { $0 != .undecided }.map(\.rawValue)
    }
}

/// The word of a format.
extension FormatWord: ExpressibleByArgument {}

extension Name: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

extension UnitName: ExpressibleByArgument {
    /// A unit's name; without a type it is a service.
    init?(argument: String) {
        let type = argument.split(separator: ".").last.map(String.init) ?? ""
        self.init(Self.isType(type) && argument.contains(".") ? argument : "\(argument).service")
    }
}

extension CompletionKind {
    /// The services that have files in the runtime directory.
    static var services: CompletionKind {
        .custom { words, _, _ in names(in: words) { FileName.service($0)?.text } }
    }

    /// The sources that have answered, by their marks in the runtime directory.
    static var sources: CompletionKind {
        .custom { words, _, _ in
            names(in: words) { entry in
                guard entry.hasPrefix(FileName.sourcePrefix) else { return nil }
                return SourceName(String(entry.dropFirst(FileName.sourcePrefix.count)))?.text
            }
        }
    }

    /// The units that can be attached, by the unit files in the folders of systemd.unit(5). A template is
    /// offered with its `@`, for an instance to follow.
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

    /// The entries of the directory of `--runtime-directory`, or of the default one. Errors are ignored:
    /// a completion prints no messages.
    private static func names(in words: [String], _ name: (String) -> String?) -> [String] {
        let option = "--runtime-directory"
        let separate = words.firstIndex(of: option).flatMap { words.dropFirst($0 + 1).first }
        let joined = words.first { $0.hasPrefix("\(option)=") }?.dropFirst(option.count + 1)
        var options = CommonOptions()
        options.runtimeDirectory = separate ?? joined.map(String.init)
        do { return entries(in: try PublishedFiles(options).directory).compactMap(name) } catch {
            return []
        }
    }

    private static func entries(in folder: String) -> [String] {
        do { return try Directory.list(folder) } catch { return [] }
    }
}
