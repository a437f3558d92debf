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

        /// Whoever attaches a socket of the service meanwhile has its start by hand canceled by a stop.
        @Test func aStartByHandThatIsCanceledIsTriedAgain() throws {
            let host = try Host.having("t-web")
            try host.system.write(
                """
                until job=$(systemctl list-jobs --no-legend t-web.service | grep waiting); do
                    sleep 0.05
                done
                systemctl cancel "${job%% *}"
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
            #expect(result.status == 0, "\(result)")
            #expect(try report.unit("t-web.service")["refused"] == true)
            #expect(try host.property("Result", of: "t-page") == "success")
        }
    }
}
