import ArgumentParser
import Decision
import Files
import Records

extension CompletionKind {
    /// The services that have files in the runtime directory.
    static var services: CompletionKind {
        .custom { words, _, _ in names(in: words) { ServiceName($0)?.text } }
    }

    /// The sources that have been heard, by their files in the runtime directory.
    static var sources: CompletionKind {
        .custom { words, _, _ in
            names(in: words) { entry in
                guard entry.hasPrefix(FileName.sourcePrefix) else { return nil }
                return SourceName(String(entry.dropFirst(FileName.sourcePrefix.count)))?.text
            }
        }
    }

    /// The units that can be attached and have a file, by what the service manager calls them
    /// (systemd.unit(5) lists the folders). A template is offered with its `@`, for an instance to
    /// follow.
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

    private static func entries(in folder: String) -> [String] {
        do { return try Directory.list(folder) } catch { return [] }
    }

    /// What stands in the directory of `--runtime-directory`, or the usual one. Nothing where it cannot
    /// be read: a completion must not complain.
    private static func names(in words: [String], _ name: (String) -> String?) -> [String] {
        let option = "--runtime-directory"
        var options = CommonOptions()
        options.runtimeDirectory =
            words.firstIndex(of: option).flatMap { words.dropFirst($0 + 1).first }
            ?? words.first { $0.hasPrefix("\(option)=") }.map {
                String($0.dropFirst(option.count + 1))
            }
        do {
            return try Directory.list(Published(options).directory).compactMap(name)
        } catch {
            return []
        }
    }
}
