import Support
import Testing

/// `packaging/release/check-symbols`, which keeps the programs of a release running on other distributions.
@Suite(.timeLimit(.minutes(5))) struct SymbolsTests {
    private func check(_ program: String) throws -> Program.Result {
        try Program.run("\(Programs.project)/packaging/release/check-symbols", [program])
    }

    /// Builds a program that calls something, linked with these libraries.
    private func compile(
        _ call: String, declaring declaration: String, _ libraries: String...,
        in folder: TemporaryFolder
    ) throws -> String {
        let source = "\(declaration)\nint main(int count, char **words) { return \(call); }\n"
        try folder.write(source, to: "program.c")
        try Program.succeed(
            "/usr/bin/gcc",
            ["-fno-builtin", "-o", folder("program"), folder("program.c")] + libraries)
        return folder("program")
    }

    @Test func whatTheOldestDistributionHasIsAccepted() throws {
        let folder = try TemporaryFolder()
        let program = try compile("count", declaring: "", in: folder)
        try check(program).expect(0, output: "libc.so.6")
    }

    /// glibc 2.35 brought a second version of this function, and a program that is linked with it asks for that. The
    /// programs of a release did.
    @Test func aNewerSymbolIsRefusedWithItsName() throws {
        let folder = try TemporaryFolder()
        let program = try compile(
            "hypotf(count, count)", declaring: "float hypotf(float, float);", "-lm", in: folder)
        try check(program).expect(
            1, errors: "program needs GLIBC_2.35 of libm.so.6 for hypotf")
    }

    @Test func anotherLibraryIsRefused() throws {
        let folder = try TemporaryFolder()
        let program = try compile(
            "crypt(*words, *words) != 0", declaring: "char *crypt(char *, char *);", "-lcrypt",
            in: folder)
        try check(program).expect(1, errors: "program needs the library libcrypt.so.1")
    }

    @Test func anotherFunctionOfLibcurlIsRefused() throws {
        let folder = try TemporaryFolder()
        let program = try compile(
            "puts(\"curl_easy_nextheader\")", declaring: "int puts(const char *);", in: folder)
        try check(program).expect(1, errors: "program looks up curl_easy_nextheader in libcurl")
    }

    /// The programs of this system are for this system.
    @Test(
        .enabled(if: Programs.areShipped, "KILLSWITCHD_PROGRAMS names other programs"),
        arguments: ["killswitchd", "killswitchctl"])
    func packedRelocationsAreRefused(_ name: String) throws {
        try check(try Programs.path(of: name)).expect(
            1, errors: "\(name) has packed relocations, which need glibc 2.36")
    }

    @Test func aFileThatIsNoProgramIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write("nonsense", to: "killswitchd")
        try check(folder("killswitchd")).expect(1, errors: "check-symbols: readelf")
    }
}
