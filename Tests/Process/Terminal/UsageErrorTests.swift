import Support
import Testing

/// A wrong command line: one style of messages for all commands, found by the parser or by us.
@Suite(.timeLimit(.minutes(5))) struct UsageErrorTests {
    /// Every command with arguments that it accepts, as far as the parser sees.
    static let commands = [
        "status", "is-open shop", "get shop state", "explain shop",
        "simulate --flags f --format status", "rollout f --hosts 3", "history",
        "wait shop --for open", "watch", "run shop -- true",
        "force shop ended --reason x --for 1h", "release shop", "refresh", "activate", "reload",
        "forget app", "confirm shop", "sign f --key k", "verify f --signers s --audience a",
        "attach shop web", "detach shop web", "units", "drill shop", "unlock shop",
    ]

    private func check(_ words: [String], expected text: String, _ command: String?) throws {
        let result = try Programs.run("killswitchctl", words)
        #expect(result.status == 2 && result.output == "", "\(words)")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.first?.hasPrefix("killswitchctl: \(text)") == true, "\(result.errors)")
        #expect(!result.errors.contains("Error:"))
        let usage = ["Usage: killswitchctl", command].compactMap(\.self).joined(separator: " ")
        #expect(lines.contains { $0.hasPrefix(usage) }, "\(result.errors)")
        #expect(lines.last?.hasPrefix("  See 'killswitchctl ") == true)
    }

    @Test func aNameWithASpaceIsNamed() throws {
        try check(
            ["is-open", "My Shop"], expected: "the value 'My Shop' is invalid for '<service>'",
            "is-open")
    }

    @Test(arguments: commands) func anUnknownOptionIsNamed(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        try check(
            [words[0], "--nonsense"] + words.dropFirst(), expected: "unknown option '--nonsense'",
            words[0])
    }

    @Test(arguments: [
        ("is-open", "missing expected argument '<service>'"),
        ("get shop", "missing expected argument '<field>'"),
        ("wait shop", "missing expected argument '--for <for>'"),
        ("force shop ended --for 1h", "missing expected argument '--reason <reason>'"),
        ("release", "name services, or give --all"), ("confirm", "name services, or give --all"),
        ("run shop", "no command; give it after '--'"),
        ("forget", "missing expected argument '<source>'"),
        ("attach", "name a service and its units"),
        ("status --json=1", "the option '--json' does not take any value"),
        ("wait shop --for sideways", "the value 'sideways' is invalid for '--for <for>'"),
        (
            "wait shop --for open --timeout soon",
            "the value 'soon' is invalid for '--timeout <timeout>'"
        ),
        ("drill shop --for soon", "the value 'soon' is invalid for '--for <for>'"),
        ("is-open Shop", "the value 'Shop' is invalid for '<service>'"),
        ("reload now", "unexpected argument 'now'"),
    ]) func aMissingOrWrongArgumentIsNamed(_ line: String, _ text: String) throws {
        let words = line.split(separator: " ").map(String.init)
        try check(words, expected: text, words[0])
    }

    @Test(arguments: [
        ("stauts", "'stauts'; did you mean 'status'?"),
        ("help stauts", "'stauts'; did you mean 'status'?"),
        ("nonsense", "'nonsense'; there are: "),
    ]) func anUnknownCommandIsNamed(_ line: String, _ text: String) throws {
        let words = line.split(separator: " ").map(String.init)
        try check(words, expected: "no such command \(text)", nil)
    }

    @Test func anUnknownOptionBeforeTheCommandIsNamed() throws {
        try check(["--nonsense"], expected: "unknown option '--nonsense'", nil)
    }
}
