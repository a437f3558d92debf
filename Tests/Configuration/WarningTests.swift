import Configuration
import Testing

private func warnings(_ text: String) throws(ConfigurationError) -> String {
    try load(text, file: "f").warnings.map(\.description).joined(separator: "\n")
}

@Test func aSourceThatNobodyNamesIsAWarning() throws {
    #expect(
        try warnings(
            """
            \(shopTable)
            [source.app]
            type = "file"
            path = "/a"
            """) == "f:4:1: source 'app' is used by no service")
}

private let plain = """
    [service.shop]
    switch = [
      { source = "a", format = "status" }, { source = "b", format = "status" },
      { source = "c", format = "status" }]
    [source.a]
    type = "etcd"
    endpoints = ["https://etcd-1:2379", "http://etcd-2:2379"]
    prefix = "/flags/"
    user = "killswitchd"
    password = "etcd-password"
    PERMISSION
    [source.b]
    type = "ofrep"
    url = "http://flags.example.com"
    api_key = "flags-key"
    ca = "/etc/killswitchd/authority.pem"
    PERMISSION
    [source.c]
    type = "http"
    url = "http://10.0.0.1/flags.json"
    bearer = "flags-token"
    PERMISSION
    """

@Test(arguments: ["", "allow_plain_http = false"])
func aSecretThatWouldBeSentInClearIsAnError(_ permission: String) {
    #expect(
        errors(in: plain.replacing("PERMISSION", with: permission)) == """
            f:10:1: 'password' in [source.a] would be sent in clear: an endpoint is not https; \
            write 'https://', or add 'allow_plain_http = true'
            f:15:1: 'api_key' in [source.b] would be sent in clear: 'url' is not https; \
            write 'https://', or add 'allow_plain_http = true'
            f:21:1: 'bearer' in [source.c] would be sent in clear: 'url' is not https; \
            write 'https://', or add 'allow_plain_http = true'
            """)
}

@Test func aSecretIsSentInClearWhereThatIsAllowed() throws {
    #expect(
        try warnings(plain.replacing("PERMISSION", with: "allow_plain_http = true"))
            == "f:16:1: 'ca' in [source.b] has no effect: 'url' is not https")
}

@Test(arguments: [
    #"url = "http://127.1.2.3:8000/""#, #"url = "http://[::1]/""#, #"url = "http://LOCALHOST/""#,
    #"url = "https://flags.example.com/""#,
    "url = \"http://flags.example.com/\"\nunix_socket = \"/run/flags.sock\"",
])
func aSecretThatStaysOnThisHostNeedsNoPermission(_ address: String) {
    #expect(
        errors(
            in: """
                [service.shop]
                source = "a"
                format = "status"
                [source.a]
                type = "http"
                \(address)
                bearer = "flags-token"
                """) == "")
}

@Test(arguments: ["", "max_stale = 'never'"])
func whenStaleWithoutALimitIsAWarning(_ limit: String) throws {
    #expect(
        try warnings(
            """
            \(shopTable)
            when_stale = "closed"
            \(limit)
            """) == #"f:4:1: 'when_stale' in [service.shop] has no effect: 'max_stale' is "never""#)
}

/// Flags of the format `switch` may have `expires`, for which `when_stale` counts too.
@Test func whenStaleWithoutALimitIsNoWarningWhereFlagsMayExpire() throws {
    #expect(
        try warnings(
            """
            [service.shop]
            source = "file:/a"
            format = "switch"
            when_stale = "closed"
            """) == "")
}

@Test func aMaxStaleBelowTheIntervalIsAWarning() throws {
    #expect(
        try warnings(
            """
            [source.app]
            type = "file"
            path = "/a"
            interval = "5m"
            [service.shop]
            max_stale = "2m"
            [[service.shop.switch]]
            source = "app"
            format = "status"
            [[service.shop.switch]]
            source = "file:/b"
            format = "status"
            """)
                == """
                f:6:13: 'max_stale' in [service.shop] is not longer than the interval of source 'app' \
                (5m): its flags go stale between polls
                """)
}

@Test func aShortIntervalOfAServerTemplateIsAWarning() throws {
    let said = try warnings(
        """
        \(shopTable.replacing("file:/a", with: "app"))
        [source.app]
        type = "firebase-server"
        project = "p"
        interval = "59s"
        """)
    #expect(said.contains("'interval' in [source.app] is below 60 s: Firebase has a quota"))
}

/// The service of Remote Config throttles a client that asks too often, and then orders come late.
@Test(arguments: [
    ("interval = \"100ms\"", true), ("interval = \"59s\"", true), ("interval = \"60s\"", false),
    ("interval = \"1s\"\nrealtime = true", false), ("", false),
])
func aShortIntervalOfFirebaseIsAWarning(_ setting: String, _ isWarned: Bool) throws {
    let said = try warnings(
        """
        \(shopTable.replacing("file:/a", with: "app"))
        [source.app]
        type = "firebase"
        project = "p"
        api_key = "k"
        app_id = "a"
        \(setting)
        """)
    let warning = "'interval' in [source.app] is below 60 s: Firebase has a quota"
    #expect(said.contains(warning) == isWarned)
    #expect(isWarned || said.isEmpty, "\(said)")
}
