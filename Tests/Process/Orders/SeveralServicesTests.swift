import Files
import JSON
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct SeveralServicesTests {
    private func running() throws -> Daemon {
        let daemon = try Daemon(
            ["shop", "web", "mail"].map {
                Daemon.shop.replacing("service.shop", with: "service.\($0)")
            }
            .joined(separator: "\n"))
        try daemon.start()
        for service in ["shop", "web", "mail"] { try daemon.waitFor("running", of: service) }
        return daemon
    }

    private static let order = ["--for", "1h", "--reason", "x"]

    @Test func oneOrderIsForSeveralServices() throws {
        let daemon = try running()
        try daemon.control(["close", "shop", "web", "--state", "ended"] + Self.order).expect(
            0, output: "shop: forced to ended by ", "web: forced to ended by ")
        #expect(try daemon.member("state", of: "mail") == "\"running\"")
        let released = try daemon.control(["release", "--all"])
        #expect(released.status == 0 && !released.output.contains("mail"))
        try daemon.control("is-open", "shop").expect(0)
        try daemon.control("is-open", "web").expect(0)
    }

    @Test(arguments: [
        (["close"], "maintenance"), (["close", "--state", "ended"], "ended"),
        (["close", "--state", "update-required"], "update-required"), (["open"], "running"),
    ]) func anOrderHasAState(_ words: [String], _ state: String) throws {
        let daemon = try running()
        let forced = try daemon.control(words + ["--all", "--json"] + Self.order).expect(0)
        let states = try #require(JSON.Value.parse(forced.output).array)
            .compactMap { $0.object?["service"]?.object?["state"]?.string }
        #expect(states == [state, state, state])
    }

    /// A typing error in one of the names must not leave half of the services closed.
    @Test func aServiceThatDoesNotExistStopsTheOrderForAll() throws {
        let daemon = try running()
        let forced = try daemon.control(["close", "shop", "wbe"] + Self.order).expect(4)
        #expect(forced.errors == "killswitchctl: no such service 'wbe'; did you mean 'web'?\n")
        try daemon.control("is-open", "shop").expect(0)
    }

    @Test(arguments: [
        (
            ["close", "shop", "--state", "ended", "--for", "5min", "--reason", "x"],
            "the value '5min' is invalid for '--for <duration>': write '5m'"
        ),
        (
            ["close", "shop", "--state", "ended", "--for", "90 minutes", "--reason", "x"],
            "write '90m'"
        ),
        (
            ["close", "shop", "--state", "ended", "--for", "soon", "--reason", "x"],
            "write a number and a unit (ms, s, m, h, d), such as '30s'"
        ),
        (
            ["close", "shop", "--state", "ended", "--for", "400000d", "--reason", "x"],
            "--for is at most 36600d, a hundred years"
        ),
        (
            ["close", "shop", "--state", "countdown"] + order,
            "the value 'countdown' is invalid for '--state <state>'"
        ),
        (
            ["close", "My Shop"] + order,
            "the value 'My Shop' is invalid for '<service>': a name is 1 to 63 of a-z"
        ),
        (
            ["close"] + order,
            "name the services, or give --all"
        ),
        (["close", "--all", "shop"] + order, "name the services, or give --all"),
        (["wait", "shop", "--for", "open", "--timeout", "1,5h"], "such as '30s'"),
        (["wait", "shop", "--for", "open", "--timeout", "1.5h"], "write '90m'"),
        (["history", "--since", "2 days"], "write 2d"),
        (
            ["plan", "x", "--format", "switch", "--at", "tomorrow"],
            "write it like 2027-03-01T12:00:00+09:00"
        ),
        (["is-open", "Shop"], "a name is 1 to 63 of a-z"),
    ]) func aWrongValueSaysWhy(_ words: [String], _ expected: String) throws {
        try Programs.run("killswitchctl", words).expect(2, errors: expected)
    }

    /// A program that reads the output of --json has the mistakes too.
    @Test func aRefusedReloadIsJSON() throws {
        let daemon = try running()
        try daemon.configure("[service.shop]\nsorce = 1\n")
        let refused = try daemon.control("reload", "--json").expect(78)
        let answer = try #require(try JSON.Value.parse(refused.output).object)
        #expect(answer["error"]?.string == "io.killswitchd.ConfigurationRefused")
        let problems = answer["parameters"]?.object?["problems"]?.string
        #expect(problems?.contains(":2:1: unknown key 'sorce'") == true)
        #expect(refused.errors.contains("configuration refused; the last accepted"))
    }
}
