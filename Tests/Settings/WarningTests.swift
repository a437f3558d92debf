import Settings
import Testing

private func warnings(_ text: String) throws(SettingsError) -> String {
    try load(text, file: "f").warnings.map(\.description).joined(separator: "\n")
}

@Test func aSourceThatNobodyNamesIsAWarning() throws {
    #expect(
        try warnings(
            """
            [service.shop]
            source = "file:/a"
            format = "status"
            [source.app]
            type = "file"
            path = "/a"
            """) == "f:4:1: source 'app' is used by no service")
}

@Test func aSecretThatIsSentInClearIsAWarning() throws {
    #expect(
        try warnings(
            """
            [service.shop]
            switch = [{ source = "a", format = "status" }, { source = "b", format = "status" }]
            [source.a]
            type = "etcd"
            endpoints = ["https://etcd-1:2379", "http://etcd-2:2379"]
            prefix = "/flags/"
            user = "killswitchd"
            password = "etcd-password"
            [source.b]
            type = "ofrep"
            url = "http://flags.example.com"
            api_key = "flags-key"
            ca = "/etc/killswitchd/authority.pem"
            """) == """
                f:8:1: 'password' in [source.a] is sent in clear: an endpoint is not https
                f:12:1: 'api_key' in [source.b] is sent in clear: 'url' is not https
                f:13:1: 'ca' in [source.b] has no effect: 'url' is not https
                """)
}

@Test(arguments: ["", "max_stale = 'never'"])
func whenStaleWithoutALimitIsAWarning(_ limit: String) throws {
    #expect(
        try warnings(
            """
            [service.shop]
            source = "file:/a"
            format = "status"
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
                f:6:13: 'max_stale' in [service.shop] is over before source 'app' is asked again, \
                every 5m
                """)
}
