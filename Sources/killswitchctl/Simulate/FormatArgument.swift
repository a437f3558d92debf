import ArgumentParser
import Settings

/// The word of a format.
struct FormatArgument: ExpressibleByArgument {
    let word: FormatWord

    init?(argument: String) {
        guard let word = FormatWord(rawValue: argument) else { return nil }
        self.word = word
    }

    static var allValueStrings: [String] { FormatWord.allCases.map(\.rawValue) }
}
