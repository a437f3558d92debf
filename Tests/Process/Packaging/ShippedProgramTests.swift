import Files
import Support
import Testing

/// The process tests run the programs that ship, with freed memory overwritten.
@Suite(.timeLimit(.minutes(5))) struct ShippedProgramTests {
    /// The linker strips the programs, because the installation does not. A build for debugging or with a
    /// sanitizer keeps its symbols.
    @Test(
        .enabled(if: Programs.areShipped, "KILLSWITCHD_PROGRAMS names other programs"),
        arguments: ["killswitchd", "killswitchctl"])
    func theProgramsUnderTestAreThoseThatShip(_ name: String) throws {
        let sections = try Program.run(
            "/usr/bin/readelf", ["--sections", "--wide", try Programs.path(of: name)]
        ).expect(0, output: " .text ")
        #expect(!sections.output.contains(" .symtab "))
        #expect(!sections.output.contains(" .debug_"))
    }

    @Test func freedMemoryIsOverwrittenInTheDaemon() throws {
        let daemon = try Daemon.running()
        let process = try #require(daemon.program).processID
        let bytes = try File.read("/proc/\(process)/environ", limit: 1 << 16)
        let variables = String(decoding: bytes, as: UTF8.self).split(separator: "\0")
        #expect(variables.contains("MALLOC_PERTURB_=165"))
    }
}
