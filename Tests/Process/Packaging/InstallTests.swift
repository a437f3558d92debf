import Files
import Support
import Testing

/// `make install`, of the programs that `make build` has left.
@Suite(.timeLimit(.minutes(5))) struct InstallTests {
    private func install(into folder: TemporaryFolder) throws -> Program.Result {
        try Program.run(
            "/usr/bin/make",
            [
                "--directory", Programs.project, "--no-print-directory", "install",
                "BUILD=\(Programs.folder)", "DESTDIR=\(folder.path)",
            ])
    }

    @Test func theInstalledProgramsAreTheTestedOnes() throws {
        let folder = try TemporaryFolder()
        let installed = try install(into: folder)
        #expect(installed.status == 0, "\(installed.errors)")
        for (name, place) in [("killswitchd", "sbin"), ("killswitchctl", "bin")] {
            try Program.run(
                "/usr/bin/cmp", [try Programs.path(of: name), folder("usr/\(place)/\(name)")]
            ).expect(0)
        }
    }

    @Test func theFilesForWebServersAreInstalled() throws {
        let folder = try TemporaryFolder()
        #expect(try install(into: folder).status == 0)
        #expect(
            try Directory.list(folder("etc/killswitchd/web")) == [
                "Caddyfile", "apache2.conf", "haproxy.lua", "nginx-sunset.conf",
                "nginx.conf",
            ])
        #expect(try File.exists(folder("usr/share/doc/killswitchd/examples/page.html")))
        for schema in ["host", "brief"] {
            #expect(try File.exists(folder("usr/share/doc/killswitchd/\(schema).schema.json")))
        }
    }

    /// `make install` has to bring a main file: without it the second step of the README failed on every
    /// system but Debian's.
    @Test func aServiceInADropInIsAllThatIsMissing() throws {
        let folder = try TemporaryFolder()
        let installed = try install(into: folder)
        #expect(installed.status == 0, "\(installed.errors)")
        let main = "etc/killswitchd/killswitchd.toml"
        try folder.write(
            """
            [service.shop]
            source = "file:/etc/killswitchd/shop.json"
            format = "switch"
            """, to: "etc/killswitchd/conf.d/shop.toml")
        let check = ["--check", "--config", folder(main)]
        try Program.run(folder("usr/sbin/killswitchd"), check).expect(0)
        try folder.write("# my own", to: main)
        #expect(try install(into: folder).status == 0)
        #expect(try folder.text(of: main) == "# my own")
    }
}

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
