import CivilTime
import EventLoop
import Files
import Glibc
import Support
import Testing

/// A real systemd that is booted for the tests and ends with this process, also after a crash.
struct BootedSystem: Sendable {
    /// The folder that the boot script writes to.
    private let folder: String

    /// The process ID of its PID 1 outside of the container. A reboot changes it.
    private var leader: String {
        get throws {
            let bytes = try File.read("\(folder)/leader", limit: 64)
            return String(decoding: bytes.dropLast(), as: UTF8.self)
        }
    }

    /// The system of the test that runs: see `Booted`.
    static func ofTest() throws -> BootedSystem {
        guard let first = present.first else {
            throw TestFailure("find its booted system: see 'Booted'")
        }
        return first
    }

    /// All systems of the test that runs.
    @TaskLocal static var present: [BootedSystem] = []

    /// `build` is the folder of the programs that are installed in it.
    fileprivate init(build: String?) throws {
        folder = try Self.folder()
        // The script ends when this process closes the FIFO.
        guard unsafe mkfifo("\(folder)/alive", 0o600) == 0,
            unsafe open("\(folder)/alive", O_RDWR | O_CLOEXEC) >= 0
        else { throw TestFailure("make a FIFO in '\(folder)': errno \(errno)") }
        try Self.launch(folder, build: build)
        try awaitBoot()
    }

    private func awaitBoot() throws {
        let loop = try EventLoop()
        let deadline = loop.now.boot + .seconds(180)
        while try !File.exists("\(folder)/leader") {
            guard loop.now.boot < deadline, try File.exists(folder) else {
                throw TestFailure("boot a systemd: it did not come up; see the errors above")
            }
            try loop.runOnce(.milliseconds(50))
        }
    }

    /// A temporary folder, which the script removes.
    private static func folder() throws -> String {
        var template = Array("/tmp/killswitchd-boot.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw TestFailure("make a temporary folder: errno \(errno)")
        }
        return String(
            decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    /// Starts the boot script, which ends by itself.
    private static func launch(_ folder: String, build: String?) throws {
        let script = "\(#filePath)".split(separator: "/").dropLast().joined(separator: "/")
        var identifier: pid_t = 0
        let arguments = ["/bin/bash", "/\(script)/boot", folder] + (build.map { [$0] } ?? [])
        var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe argv.indices { unsafe free(argv[index]) } }
        guard unsafe posix_spawn(&identifier, "/bin/bash", nil, nil, &argv, environ) == 0 else {
            throw TestFailure("spawn '\(script)/boot'")
        }
    }
}

extension BootedSystem {
    /// Runs a shell command inside, and gives what it printed; a failure is an error.
    @discardableResult func run(_ command: String) throws -> String {
        let result = try attempt(command)
        guard result.status == 0 else {
            throw TestFailure("'\(command)' ended with \(result.status): \(result.errors)")
        }
        return result.output
    }

    /// Runs a shell command inside, and gives how it ended.
    func attempt(_ command: String) throws -> Program.Result {
        try Program.run(
            "/usr/bin/nsenter",
            ["--target", try leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--"]
                + ["/bin/sh", "-c", command])
    }

    /// Reboots the system and waits for it, by default until the jobs of the boot are done. Files on disk stay.
    func reboot(untilDone: Bool = true) throws {
        let command = "systemctl reboot --no-block"
        let status = try attempt(command).status
        // The shutdown may end the command that asked for it, by SIGTERM. Whether the system has booted is seen below.
        guard [0, 128 + SIGTERM].contains(status) else {
            throw TestFailure("'\(command)' ended with \(status)")
        }
        try File.remove("\(folder)/leader")
        if !untilDone { try File.replace("\(folder)/hasty", with: []) }
        try awaitBoot()
    }

    /// Connects the network of this system with those of others, as 10.9.0.1 with 10.9.0.2 and so on. Each system has
    /// a network of its own; the others reach this one alone.
    func connect(to others: [BootedSystem]) throws {
        let center = try leader
        try disconnect()
        for (index, other) in others.enumerated() {
            let (address, link, end) = ("10.9.0.\(index + 2)", "to\(index + 2)", try other.leader)
            try Program.succeed(
                "/bin/sh",
                [
                    "-ec",
                    """
                    here() { nsenter --target \(center) --net ip "$@"; }
                    there() { nsenter --target \(end) --net ip "$@"; }
                    here link add name \(link) type veth peer name eth0 netns \(end)
                    here address add 10.9.0.1 peer \(address) dev \(link)
                    there address add \(address) peer 10.9.0.1 dev eth0
                    here link set \(link) up
                    there link set eth0 up
                    """,
                ])
        }
    }

    /// Removes the connections to other systems.
    func disconnect() throws {
        try run(
            "cd /sys/class/net; for link in to[0-9]*; do ip link delete $link 2>&1 || true; done")
    }

    /// Writes a file inside; its folder is made.
    func write(_ text: String, to path: String) throws {
        let outside = "/proc/\(try leader)/root\(path)"
        try Directory.create("/" + outside.split(separator: "/").dropLast().joined(separator: "/"))
        try File.replace(outside, with: Array(text.utf8))
    }

    /// The assertions of a service as systemd has loaded them: their number, then each.
    func assertions(of service: String) throws -> String {
        let object = "/org/freedesktop/systemd1/unit/$(echo \(service) | sed s/-/_2d/g)_2eservice"
        return try run(
            "busctl get-property org.freedesktop.systemd1 \(object) org.freedesktop.systemd1.Unit "
                + "Asserts")
    }

    func copy(_ path: String, to folder: String) throws {
        let inside = "/proc/\(try leader)/root\(folder)"
        let result = try Program.run("/usr/bin/install", ["-m", "644", "-D", "-t", inside, path])
        guard result.status == 0 else { throw TestFailure("copy '\(path)': \(result.errors)") }
    }

    /// Installs a library inside; returns the line with which a unit preloads it.
    func install(_ library: Preload) throws -> String {
        try copy(library.path, to: "/usr/local/lib")
        let name = library.path.split(separator: "/").last.map(String.init) ?? ""
        return "Environment=LD_PRELOAD=/usr/local/lib/\(name)"
    }

    /// Waits until a command succeeds inside; fails after `limit`.
    func wait(until command: String, limit: Duration = longestWait) throws {
        let loop = try EventLoop()
        let deadline = loop.now.boot + limit
        while try attempt(command).status != 0 {
            guard loop.now.boot < deadline else {
                let account = try attempt(Self.account).output
                throw TestFailure("timed out waiting until '\(command)' succeeds:\n\(account)")
            }
            try loop.runOnce(.milliseconds(50))
        }
    }

    /// Prints what the daemon, the mover and systemd say of the gates.
    private static let account = """
        journalctl -u killswitchd -u killswitchd-gates -n 30 --no-pager
        cd /run && tail -n +1 killswitchd/*/gate.json killswitchd/*/targets killswitchd-gates/record
        systemctl list-units --all --no-pager --plain 'killswitch*'
        """
}

/// Booted systems that tests take in turn. Each test has one alone, and resets it.
actor BootedSystems {
    /// With the installed programs.
    fileprivate static let installed = BootedSystems(build: Programs.folder, most: 6)
    /// Without them: the tests install the package.
    fileprivate static let bare = BootedSystems(build: nil, most: 2)

    private let build: String?
    private let most: Int
    private var count = 0
    private var free: [BootedSystem] = []
    private var waiting: [CheckedContinuation<BootedSystem, any Error>] = []

    private init(build: String?, most: Int) { (self.build, self.most) = (build, most) }

    /// A free system, or one that is booted for it, at most so many.
    func take() async throws -> BootedSystem {
        if let system = free.popLast() { return system }
        guard count < most else {
            return try await withCheckedThrowingContinuation { waiting.append($0) }
        }
        count += 1
        let build = build
        do {
            // Meanwhile others give systems back.
            return try await Task(executorPreference: Threads.shared) {
                try BootedSystem(build: build)
            }.value
        } catch {
            count -= 1
            // The systems that are there go round; without one nobody gives any back.
            if count == 0 {
                for test in waiting { test.resume(throwing: error) }
                waiting = []
            }
            throw error
        }
    }

    func give(_ system: BootedSystem) {
        guard !waiting.isEmpty else { return free.append(system) }
        waiting.removeFirst().resume(returning: system)
    }
}

/// The trait of a suite each of whose tests runs on a booted system, or on several.
struct Booted: SuiteTrait, TestTrait, TestScoping {
    fileprivate let systems: BootedSystems
    /// How many a test has. One suite alone may ask for several: two tests that hold some of the systems would wait for
    /// the others for ever.
    fileprivate var count = 1
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        var taken: [BootedSystem] = []
        let result: Result<Void, any Error>
        do {
            for _ in 0..<count { taken.append(try await systems.take()) }
            let present = taken
            try await withTaskExecutorPreference(Threads.shared) {
                try await BootedSystem.$present.withValue(present, operation: body)
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        for system in taken { await systems.give(system) }
        try result.get()
    }
}

extension Trait where Self == Booted {
    static var installed: Self { Self(systems: .installed) }
    static var threeInstalled: Self { Self(systems: .installed, count: 3) }
    static var bare: Self { Self(systems: .bare) }
}
