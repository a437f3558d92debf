import Files
import Glibc
import Support

/// A shell in a real terminal of 80 columns, which a tmux(1) server of this test provides.
final class RealTerminal {
    private let folder: TemporaryFolder

    /// Starts the shell with the programs in its PATH, the daemon's runtime directory and `variables`.
    /// Waits until it has printed its prompt: earlier input would be echoed twice.
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
    func press(_ key: String) throws { try tmux(["send-keys", key]) }

    /// The text on the screen and in the history, without empty lines at the end.
    var screen: String { get throws { try capture([]) } }

    /// The same text with escape sequences for colours.
    var coloredScreen: String { get throws { try capture(["-e"]) } }

    func wait(until text: String) async throws {
        try await waitUntil(
            "the terminal shows '\(text)'", every: Self.interval, orReport: { try screen }
        ) {
            try self.screen.contains(text)
        }
    }

    /// Erases the typed line with Ctrl-U, and waits for the prompt. A shell that is still completing
    /// reads Ctrl-U afterwards; Ctrl-C would end the completion and keep the line.
    func eraseLine() async throws {
        try press("C-u")
        try await waitForPrompt()
    }

    func interrupt() async throws {
        try press("C-c")
        try await waitForPrompt()
    }

    func waitForPrompt() async throws {
        try await waitUntil("there is a prompt", every: Self.interval, orReport: { try screen }) {
            try self.screen.split(separator: "\n").last == "$"
        }
    }

    /// Clears screen and history; the shell prints no new prompt.
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

    @discardableResult private func tmux(_ arguments: [String]) throws -> String {
        let result = try Program.run(
            "/usr/bin/tmux", ["-S", folder("tmux")] + arguments,
            environment: ["LANG": "C.UTF-8", "TERM": "screen"])
        guard result.status == 0 else { throw TestFailure("tmux \(arguments): \(result.errors)") }
        return result.output
    }
}

extension String {
    fileprivate func trimmingEnd() -> String { String(reversed().drop { $0 == "\n" }.reversed()) }
}
