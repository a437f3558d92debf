import Files
import Glibc
import Support

/// A shell in a real terminal of 80 columns: tmux(1), with a server of the test's own.
final class RealTerminal {
    private let folder: TemporaryFolder

    /// The shell finds our programs, and the daemon's files. `variables` are those of its environment.
    /// It has printed something, so that the terminal does not echo what is typed before the shell does.
    init(
        _ daemon: Daemon, shell: String = "/bin/sh", columns: Int = 80,
        _ variables: [String: String] = [:]
    ) async throws {
        folder = try TemporaryFolder()
        let programs = try Programs.path(of: "killswitchctl").dropLast("/killswitchctl".count)
        let environment = [
            "PATH": "\(programs):/usr/bin:/bin", "RUNTIME_DIRECTORY": daemon.folder("run"),
            "PS1": "$ ", "HOME": folder.path, "LANG": "C.UTF-8", "MALLOC_PERTURB_": "165",
        ].merging(variables) { _, own in own }
        let words = environment.map { "\($0)=\($1)" }
        try tmux(
            ["-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "60"]
                + ["env", "-i", "TERM=screen"] + words
                + shell.split(separator: " ").map(String.init))
        try await waitUntil("the shell prints something", every: Self.interval) {
            try !self.screen.isEmpty
        }
    }

    deinit {
        do {
            try tmux(["kill-server"])
        } catch {
            print("end a terminal: \(error)")
        }
    }

    /// Types these words and the return key.
    func type(_ line: String) throws {
        try tmux(["send-keys", "-l", line])
        try press("Enter")
    }

    /// Types these words and the tab key.
    func complete(_ words: String) throws {
        try tmux(["send-keys", "-l", words])
        try press("Tab")
    }

    /// Presses a key by its name in tmux, such as `C-c`.
    func press(_ key: String) throws {
        try tmux(["send-keys", key])
    }

    /// What stands there, and what was scrolled away, without the empty end.
    var screen: String { get throws { try capture([]) } }

    /// The same with the escape sequences for colours.
    var coloredScreen: String { get throws { try capture(["-e"]) } }

    /// Waits until the screen is as told.
    func wait(until text: String) async throws {
        try await waitUntil(
            "the terminal shows '\(text)'", every: Self.interval, orTell: { try screen }
        ) {
            try self.screen.contains(text)
        }
    }

    /// Erases what is being typed, and waits until the shell takes a line again. A shell that is still
    /// completing takes the key afterwards, where Ctrl-C would end the completion and keep the line.
    func eraseLine() async throws {
        try press("C-u")
        try await waitForPrompt()
    }

    /// Ends what runs with Ctrl-C, and waits until the shell takes a line again.
    func interrupt() async throws {
        try press("C-c")
        try await waitForPrompt()
    }

    /// Waits until the shell takes a line.
    func waitForPrompt() async throws {
        try await waitUntil("there is a prompt", every: Self.interval, orTell: { try screen }) {
            try self.screen.split(separator: "\n").last == "$"
        }
    }

    /// Forgets what stands there; the shell shows no new prompt.
    func clear() throws {
        try tmux(["send-keys", "-R"])
        try tmux(["clear-history"])
    }

    /// Each look at the screen is a program that runs.
    private static let interval: Duration = .milliseconds(100)

    private func capture(_ options: [String]) throws -> String {
        let lines = try tmux(["capture-pane", "-p", "-S", "-"] + options)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0.reversed().drop { $0 == " " }.reversed()) }
        return lines.joined(separator: "\n").trimmingEnd()
    }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        let result = try Program.run(
            "/usr/bin/tmux", ["-S", folder("tmux")] + arguments,
            environment: ["LANG": "C.UTF-8", "TERM": "screen"])
        guard result.status == 0 else { throw TestFailure("tmux \(arguments): \(result.errors)") }
        return result.output
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        String(reversed().drop { $0 == "\n" }.reversed())
    }
}
