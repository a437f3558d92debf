import Files
import Support
import Testing

extension InATerminal {
    /// What a person hears of drills where it matters: at a terminal, of a service that asks for drills.
    @Suite(.timeLimit(.minutes(5))) struct DrillNoticeTests {
        private static let asking = Daemon.shop + "\ndrill_every = \"30d\""

        private func note(_ daemon: Daemon, stopped unit: String) throws {
            let call = #"""
                import socket, sys
                end = socket.socket(socket.AF_UNIX)
                end.connect(sys.argv[1])
                end.sendall(b'{"method":"io.killswitchd.NoteDrill","parameters":{"service":"shop","stopped":["'
                            + sys.argv[2].encode() + b'"]}}\0')
                print(end.recv(65536))
                """#
            let result = try Program.run(
                "/usr/bin/python3", ["-c", call, daemon.folder("run/control.sock"), unit])
            guard result.output.contains("last_good") else { throw TestFailure("\(result)") }
        }

        /// The words of a command at a terminal, on both streams.
        private func words(_ command: String, _ daemon: Daemon) async throws -> String {
            let terminal = try await RealTerminal(daemon, columns: 200)
            try await terminal.waitForPrompt()
            try terminal.type("\(command); echo \"status:$?\"")
            try await terminal.wait(until: "status:0\n")
            return try terminal.screen
        }

        private static let orders = [
            "killswitchctl close shop --for 1m --reason x",
            "killswitchctl plan steps.json --format switch --hosts 3",
            "killswitchctl sign flags.json --key key",
        ]

        @Test func aSwitchThatWasNeverDrilledIsTold() async throws {
            let daemon = try Daemon.answering(Self.asking)
            _ = try SigningKey("ed25519", in: daemon.folder, name: "key")
            try daemon.folder.write(
                #"{"state":"maintenance","rollout":[{"at":"2037-01-01T00:00:00Z","percent":1}],"version":1,"expires":"2037-01-01T00:00:00Z","audience":"prod"}"#,
                to: "steps.json")
            let files = Self.orders.map {
                $0.replacing("steps.json", with: daemon.folder("steps.json"))
                    .replacing("flags.json", with: daemon.folder("steps.json"))
                    .replacing("--key key", with: "--key " + daemon.folder("key"))
            }
            for order in files {
                let shown = try await words(order, daemon)
                #expect(
                    shown.contains("killswitchctl: 'shop' never had a good drill\n"), "\(shown)")
            }
            // A script hears nothing.
            for order in files {
                let result = try Program.run(
                    "/bin/sh",
                    ["-c", order],
                    environment: [
                        "PATH": try Self.path(), "RUNTIME_DIRECTORY": daemon.folder("run"),
                    ])
                #expect(!result.errors.contains("drill"), "\(result)")
            }
            let status = try await words("killswitchctl status", daemon)
            #expect(status.contains("UNITS  DRILL  REASON"), "\(status)")
            #expect(status.contains("never"), "\(status)")
        }

        private static func path() throws -> String {
            try Programs.path(of: "killswitchctl").dropLast("/killswitchctl".count)
                + ":/usr/bin:/bin"
        }

        @Test func aLateDrillAndUnitsThatNoneHasStoppedAreTold() async throws {
            let daemon = try Daemon.answering(Self.asking)
            try note(daemon, stopped: "a.service")
            let units = ["a", "b"].map {
                """
                {"name": "\($0).service", "wanted": "up", "active": "active", "since": null, \
                "took_ms": null, "problem": null, "as_wanted": true}
                """
            }
            try daemon.folder.write("[\(units.joined(separator: ","))]", to: "run/shop/units.json")
            let order = Self.orders[0]
            var shown = try await words(order, daemon)
            #expect(
                shown.contains("ago; no drill has stopped 1 of its units: b.service\n"), "\(shown)")
            try note(daemon, stopped: "b.service")
            shown = try await words(order, daemon)
            #expect(!shown.contains("drill"), "\(shown)")
            #expect(try await words("killswitchctl status", daemon).contains(#/ \d+s +override/#))
            // A restart keeps what was stopped; the last good drill is made an old one.
            try daemon.stop()
            let ledger = "state/services.json"
            let text = try daemon.folder.text(of: ledger)
            try daemon.folder.write(
                text.replacing(
                    /"last_good": ?"[^"]*"/, with: #""last_good":"2026-01-01T00:00:00Z""#),
                to: ledger)
            try daemon.start(waitingFor: "maintenance")
            try daemon.waitUntilItAnswers()
            shown = try await words(order, daemon)
            #expect(
                shown.contains(/the last good drill of 'shop' was \d+d ago\n/), "\(shown)")
            #expect(try await words("killswitchctl status", daemon).contains(/\d+d late/))
            // What opens a gate needs no drill.
            shown = try await words(order.replacing("close", with: "open"), daemon)
            #expect(!shown.contains("drill of"), "\(shown)")
        }

        @Test func aHostThatNeverAskedHearsNothing() async throws {
            let daemon = try Daemon.answering()
            try note(daemon, stopped: "a.service")
            let shown = try await words(Self.orders[0], daemon)
            #expect(!shown.contains("drill"), "\(shown)")
            let status = try await words("killswitchctl status", daemon)
            #expect(!status.contains("DRILL"), "\(status)")
        }
    }
}
