import Configuration
import Testing

/// A file with mistakes, and the whole text that is printed about it.
struct WrongFile: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let printed: String
    var testDescription: String { name }

    init(_ name: String, _ text: String, _ printed: String) {
        self.name = name
        self.text = text
        self.printed = printed
    }
}

@Test(
    arguments: WrongFile.tables + WrongFile.values + WrongFile.syntax + WrongFile.http
        + WrongFile.remote + WrongFile.streams + WrongFile.firebase)
func anErrorSaysWhereItIsAndWhatToWrite(_ file: WrongFile) {
    #expect(errors(in: file.text) == file.printed)
}

@Test(arguments: [
    "", "# nothing yet\n", "[source.app]\ntype = 'file'\npath = '/a'", "[service]",
]) func aFileWithoutAServiceIsAnError(_ text: String) {
    #expect(errors(in: text) == "f:1:1: no service is configured: add a table [service.NAME]")
}
