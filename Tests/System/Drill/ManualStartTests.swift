import JSON
import Support
import Testing

extension OnSystemd {
    /// A drill tries to start each unit by hand behind the closed gate.
    @Suite struct ManualStartTests {
        /// A later drop-in takes the refusal away.
        @Test func aUnitWhoseStartsAreNotRefusedFailsTheDrill() throws {
            let host = try Host.having("t-web")
            try host.open("t-web")
            try host.unit("t-web.service.d/60-open.conf", "[Unit]\nAssertPathExists=\n")
            try host.run("systemctl daemon-reload")
            let (result, report) = try host.drill()
            #expect(result.status == 1)
            let web = try report.unit("t-web.service")
            #expect(web["refused"] == false, "\(web)")
            #expect(
                web["problem"]?.string?.contains(
                    "a start by hand succeeded although the gate was closed") == true, "\(web)")
            try host.awaitOpen("t-web")
        }

        /// The stop of a socket that was attached a moment before took the place of the start, and the drill failed.
        /// The service is down meanwhile: a start is tried three times at most.
        @Test(arguments: [1, 3])
        func aStartByHandThatIsCanceledIsTriedAgain(_ count: Int) throws {
            let host = try Host.having("t-web")
            try host.system.write(
                """
                for try in $(seq \(count)); do
                    until job=$(systemctl list-jobs --no-legend t-web.service | grep waiting); do
                        sleep 0.05
                    done
                    systemctl cancel "${job%% *}"
                done
                """, to: "/run/t-cancel")
            try host.unit(
                "t-page.service",
                """
                [Unit]
                Before=t-web.service
                [Service]
                Type=oneshot
                RemainAfterExit=yes
                ExecStart=/bin/sh -eu /run/t-cancel
                """)
            try host.start()
            try host.run("killswitchctl attach --state maintenance shop t-page")
            try host.open("t-web")
            let (result, report) = try host.drill()
            #expect(result.status == (count < 3 ? 0 : 1), "\(result)")
            let web = try report.unit("t-web.service")
            #expect(web["refused"] == (count < 3 ? true : .null))
            #expect(web["problem"]?.string?.contains("'canceled'") ?? false == (count == 3))
            #expect(try host.property("Result", of: "t-page") == "success")
        }
    }
}
