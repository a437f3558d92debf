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

@Test func flagsThatAreStaleBetweenTwoQuestionsAreAWarning() throws {
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
