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
