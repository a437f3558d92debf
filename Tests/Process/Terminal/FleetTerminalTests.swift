import Support
import Testing

extension InATerminal {
    /// The progress of `killswitchctl fleet --wait`, in a terminal of 80 columns.
    @Suite(.timeLimit(.minutes(3))) struct FleetTerminalTests {
        @Test func theWaitForAFleetShowsHowFarItIsAndLeavesTheTableAlone() async throws {
            let fleet = try await SimulatedFleet(3, .open)
            let terminal = try await RealTerminal(try Daemon())
            try await terminal.waitForPrompt()
            try terminal.clear()
            let command = "killswitchctl fleet shop --for down --prometheus \(fleet.url) --wait"
            try terminal.type("\(command) --timeout 90s; echo \"status:$?\"")
            try await terminal.wait(until: "\n0 of 3 hosts have obeyed: 3 late; waiting ")
            try fleet.set(.down, 1...2)
            try await terminal.wait(until: "\n2 of 3 hosts have obeyed: 1 late; waiting ")
            try fleet.set(.down, 3...3)
            try await terminal.wait(until: "status:0\n")
            #expect(try terminal.screen.contains("\n3 of 3 hosts have obeyed\nstatus:0\n"))
            #expect(try !terminal.screen.contains("waiting"))

            try fleet.set(.stuck, 2...2)
            try await waitUntil("one has failed") {
                try fleet.answers("--for", "down")["web-2"] == "failed"
            }
            try terminal.clear()
            try terminal.type("\(command) --timeout 3s 2>&1 | cat; echo \"status:$?\"")
            try await terminal.wait(until: "status:0\n")
            #expect(try !terminal.screen.contains("waiting"), "a pipe shows no progress")
        }
    }
}
