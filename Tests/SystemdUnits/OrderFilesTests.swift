import Decision
import Files
import Gates
import Glibc
import Support
import SystemdUnits
import Testing

/// The daemon may be in foreign hands: what the mover makes of its files.
struct OrderFilesTests {
    private let folder: TemporaryFolder
    private let runtime: String
    private let problems = Problems()

    private final class Problems { var lines: [String] = [] }

    init() throws {
        folder = try TemporaryFolder()
        runtime = folder("run")
        try Directory.create(folder("run/shop"))
        try Directory.create(folder("run/mail"))
        try folder.write("0\n", to: "run/attach.request")
        try folder.write("start open\n", to: "run/mail/targets")
    }

    private var files: OrderFiles {
        OrderFiles(runtime) { [problems] in problems.lines.append($0) }
    }

    private func orders(_ service: ServiceName = "shop") -> String? {
        files.orders(of: service)?.text
    }

    @Test func whatTheDaemonWritesIsRead() throws {
        let text =
            "stop open\nstop variant:blue\nstart closed\nstart maintenance\nstart closed 17\n"
        try folder.write(text, to: "run/shop/targets")
        #expect(orders() == text)
        #expect(problems.lines.isEmpty)
    }

    @Test(arguments: [
        "open\n", "start\n", "start open closed\n", "start open -1\n", "start open 1 2\n",
        "start open", "start open\n\n", " start open\n", "start  open\n", "start open \n",
        "restart open\n", "start sshd.service\n", "start ../open\n", "start variant:a/b\n",
        "start variant:\n", "start open\0\n", "start open 99999999999999999999\n",
        "start open +1\n",
        "start open\nstart closed\n", "start open\nstop open\n", "start maintenance\nstart open\n",
        "start open 01\n", "stårt open\n",
    ])
    func aFileThatTheDaemonWouldNotWriteMovesNothing(_ text: String) throws {
        try folder.write(text, to: "run/shop/targets")
        #expect(orders() == nil)
        #expect(problems.lines.count == 1)
        #expect(problems.lines.first?.contains("sshd") == false)
        #expect(orders("mail") == "start open\n")
    }

    @Test func aFileOfAnotherKindIsNotFollowedAndNotWaitedFor() throws {
        try folder.write("start open\n", to: "secret")
        for make in [
            { unsafe symlink(folder("secret"), folder("run/shop/targets")) },
            { unsafe mkfifo(folder("run/shop/targets"), 0o644) },
            { unsafe mkdir(folder("run/shop/targets"), 0o755) },
        ] {
            #expect(make() == 0)
            #expect(orders() == nil)
            folder.remove("run/shop/targets")
        }
        try folder.write(String(repeating: "stop open\n", count: 2_000_000), to: "run/shop/targets")
        #expect(orders() == nil)
    }

    @Test func aFolderThatIsALinkIsNoFolder() throws {
        folder.remove("run/shop")
        try Directory.create(folder("elsewhere"))
        try folder.write("start open\n", to: "elsewhere/targets")
        #expect(unsafe symlink(folder("elsewhere"), folder("run/shop")) == 0)
        #expect(orders() == nil)
    }

    /// A closing needs no free byte: the marker alone is enough, where a daemon has its gates moved.
    @Test func theMarkerClosedAloneIsAClosing() throws {
        #expect(orders() == nil)
        try folder.write("", to: "run/shop/closed")
        #expect(orders() == "start closed\n")
        try folder.write("", to: "run/shop/targets")
        #expect(orders() == "")
        folder.remove("run/shop/targets")
        folder.remove("run/attach.request")
        #expect(orders() == nil)
    }

    @Test func whatIsNoServiceIsPassedOver() throws {
        for name in ["UPPER", "-x", "motd", "alive", "a.b", "host.json"] {
            try Directory.create(folder("run/\(name)"))
        }
        #expect(try files.services() == ["mail", "shop"])
    }
}
