import JSON
import Support
import Testing

extension Host {
    /// Runs a drill of `shop` to its end; returns its result and its report.
    func drill(_ options: String = "") throws -> (Program.Result, JSON.Object) {
        let result = try system.attempt(
            "timeout 100 killswitchctl drill shop \(options) --json < /dev/null")
        let json = try JSON.Value.parse(Array(result.output.utf8)).object
        return (result, try #require(json, "\(result.errors)"))
    }

    /// Begins a drill of `shop` as a unit of its own, `t-drill`, and waits until the gate is closed.
    func beginDrill(_ options: String, through command: String = "") throws {
        try run(
            "systemd-run --quiet --unit=t-drill -p RemainAfterExit=yes -p KillMode=process "
                + "-p StandardOutput=truncate:/run/t-drill.out "
                + "-p StandardError=truncate:/run/t-drill.err "
                + (command.isEmpty
                    ? "killswitchctl drill shop \(options)"
                    : "\(command) 'exec killswitchctl drill shop --yes \(options)' /dev/null"))
        try wait(until: "killswitchctl is-open shop --quiet; test $? = 1")
    }

    /// Waits for the end of that drill; returns its status, as a shell has it, and its output.
    func endOfDrill() throws -> (status: Int?, output: String, errors: String) {
        try wait(until: "test $(systemctl show -P ExecMainExitTimestampMonotonic t-drill) != 0")
        let isKilled = try property("ExecMainCode", of: "t-drill") == "2"
        let status = Int(try property("ExecMainStatus", of: "t-drill"))
        return (
            status.map { isKilled ? 128 + $0 : $0 }, try run("cat /run/t-drill.out"),
            try run("cat /run/t-drill.err")
        )
    }

    /// Waits until the gate is open and these units run; expects no order in force.
    func awaitOpen(_ units: String...) throws {
        try wait(until: "killswitchctl is-open shop --quiet")
        try awaitUp("killswitch-open@shop.target")
        for unit in units { try awaitUp(unit) }
        #expect(try run("killswitchctl get shop override --json") == "null\n")
    }

    /// Attaches and starts existing units, and waits for the open gate.
    func open(_ units: String) throws {
        try startUnits(units)
        try awaitUp("killswitch-open@shop.target")
    }
}

extension JSON.Object {
    /// What a drill reports of a unit.
    func unit(_ name: String) throws -> JSON.Object {
        try #require(
            self["units"]?.array?.compactMap(\.object).first { $0["name"]?.string == name })
    }
}
