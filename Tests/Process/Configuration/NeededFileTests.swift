import Support
import Testing

/// `--check` looks at the files that the daemon needs, and `--check --probe` fetches from each source.
@Suite(.timeLimit(.minutes(5))) struct NeededFileTests {
    private static let configuration = """
        [source.web]
        type = "http"
        url = "https://127.0.0.1:1/flags"
        ca = "/nowhere/ca.pem"
        [service.shop]
        source = "file:flags.json"
        format = "service-end"
        [service.mail]
        source = "web"
        format = "status"
        """

    @Test func checkNamesFilesThatTheDaemonCouldNotRead() throws {
        let daemon = try Daemon(Self.configuration, flags: nil)
        let token = daemon.folder("token")
        try daemon.folder.write("secret", to: "token")
        try daemon.configure(
            Self.configuration.replacing("ca = ", with: "bearer = \"\(token)\"\nca = "))
        let checked = try daemon.run("--check")
        #expect(checked.status == 0)
        for line in [
            "source 'web': open '/nowhere/ca.pem': no such file or directory",
            "source 'web': read credential '\(token)': its mode 644 lets others at it; ",
            "source 'shop': open '\(daemon.folder("flags.json"))': no such file or directory",
        ] {
            #expect(checked.errors.contains("killswitchd: warning: \(line)"), "\(checked.errors)")
        }
        // Nothing to complain of.
        #expect(try Daemon().run("--check").errors == "")
    }

    @Test func aProbeFetchesFromEachSourceOnce() throws {
        let daemon = try Daemon(Self.configuration)
        let probed = try daemon.run("--check", "--probe")
        #expect(probed.status == 75)
        let lines = probed.output.split(separator: "\n").suffix(2)
        #expect(
            Set(lines) == [
                "source 'shop' answers, 1 flags",
                "source 'web' fails: examine '/nowhere/ca.pem': no such file or directory",
            ])
        // The daemon's files are as they were.
        #expect(try !daemon.control("status").output.contains("shop"))
        #expect(try Daemon().run("--check", "--probe").status == 0)
        try daemon.run("--probe").expect(2, errors: "--probe needs --check")
    }
}
