import Support
import Testing

/// A part of the table of `make faults`: one system call of the daemon fails once.
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    /// Some calls of all kinds; and the first ones on the list of signers and on the time zone, which
    /// no change of the file follows.
    @Test(
        .enabled(if: Programs.areShipped),
        arguments: [
            ["--sample", "300"],
            ["--one", "openat:EMFILE:1", "--path", "allowed_signers"],
            ["--one", "read:EIO:1", "--path", "allowed_signers"],
            ["--one", "openat:EMFILE:1", "--path", "/etc/localtime"],
        ])
    func aCallThatFailsOnceChangesNoDecision(options: [String]) async throws {
        let table = try await Program.finish(
            "/usr/bin/python3",
            [
                "-B", "\(Programs.project)/Tests/Faults/faults", "--program",
                try Programs.path(of: "killswitchd"),
            ] + options)
        #expect(table.status == 0, "\(table.output)\(table.errors)")
        #expect(table.output.contains(" 0 bad\n") || table.output.hasSuffix(", 0 bad\n"))
    }
}
