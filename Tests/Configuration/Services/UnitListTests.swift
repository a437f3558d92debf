import Configuration
import Decision
import Gates
import Support
import Testing

/// The units of services: `units`, and `[attached]` of all files.
struct UnitListTests {
    @Test func anItemIsANameOrATable() throws {
        let settings = try load(
            shopTable + """

                units = [
                    "web.service",
                    { unit = "sorry.service", state = "maintenance", early = true },
                    { unit = "mail@shop.service", on = "notice" },
                    { unit = "warm-up.service", run_at_open = true },
                    { unit = "ssh.service", allow = true },
                    { unit = "shop.service", only_by_gate = true },
                ]
                """)
        let units = try #require(settings.units["shop"])
        #expect(units.map(\.kind) == [.open, .maintenance, .notice, .open, .open, .open])
        #expect(units.map(\.isEarly) == [false, true, false, false, false, false])
        #expect(units.map(\.runsAtOpen) == [false, false, false, true, false, false])
        #expect(units.map(\.isAllowed) == [false, false, false, false, true, false])
        #expect(units.map(\.isOnlyByGate) == [false, false, false, false, false, true])
        // It is written as it was read.
        let list = units.map(\.toml).joined(separator: ", ")
        #expect(try load(shopTable + "\nunits = [\(list)]").units["shop"] == units)
        #expect(settings.unitOrigins.values.map(\.line).sorted() == [5, 6, 7, 8, 9, 10])
    }

    @Test func onChangeListsUnitsThatNameTheService() throws {
        let settings = try load(
            shopTable + "\nunits = [\"web.service\"]\n"
                + "on_change = [\"notify@%s.service\", \"log.service\"]")
        let units = try #require(settings.units["shop"])
        #expect(
            units.map(\.name) == ["web.service", "notify@shop.service", "log.service"])
        #expect(units.map(\.kind) == [.open, .change, .change])
        #expect(settings.services.map(\.announcesChanges) == [true])
        #expect(try load(shopTable).services.map(\.announcesChanges) == [false])
        let listed = shopTable + "\n[attached]\nshop = [{ unit = \"a.service\", on = \"change\" }]"
        #expect(try load(listed).services.map(\.announcesChanges) == [true])
    }

    @Test(arguments: [
        ("on_change = \"a.service\"", "write [\"a.service\"]"),
        ("on_change = [\"a\"]", "did you mean 'a.service'?"),
        ("on_change = [\"a@.service\"]", "is a template, which never runs"),
        ("on_change = [7]", "a list of units such as [\"notify@%s.service\"]"),
        ("on_change = [\"a@%s.service\", \"a@shop.service\"]", "twice"),
        (
            "units = [\"a.service\"]\non_change = [\"a.service\"]",
            "unit 'a.service' is in 'units' and in 'on_change'"
        ),
    ])
    func aWrongListOfOnChangeIsNamed(_ line: String, _ words: String) throws {
        let text = errors(in: shopTable + "\n" + line)
        #expect(text.contains(words), "\(text)")
    }

    @Test func theListsOfAllFilesAddUp() throws {
        let files: [(String, String)] = [
            ("a", shopTable + "\nunits = [\"web.service\"]\n[attached]\nshop = [\"a.service\"]"),
            (
                "b",
                "[attached]\nshop = [\"b.service\", \"a.service\", \"web.service\"]\nblog = [\"c.service\"]"
            ),
        ]
        let settings = try Settings(
            files: files.map { ($0.0, Array($0.1.utf8)) }, zones: .known)
        #expect(
            settings.units["shop"]?.map(\.name) == ["web.service", "a.service", "b.service"])
        #expect(
            settings.warnings.map(\.description).joined(separator: "\n").contains(
                "b:3:1: [attached] lists units of 'blog', which no table [service.blog] configures")
        )
    }

    @Test(arguments: [
        (
            "{ unit = \"a.service\", stat = \"ended\" }",
            "unknown key 'stat' of a unit; did you mean 'state'?"
        ),
        ("{ state = \"ended\" }", "a table in it has no 'unit'"),
        (
            "{ unit = \"a.service\", early = true }",
            "'a.service': 'early' is for units that run behind a closed gate"
        ),
        (
            "{ unit = \"a.service\", state = \"open\", on = \"notice\" }",
            "'a.service': 'on' goes without 'state'"
        ),
        ("{ unit = \"a.service\", on = \"end\" }", "'a.service': 'on' is \"notice\" or \"change\""),
        (
            "{ unit = \"a.service\", on = \"notice\", run_at_open = true }",
            "'run_at_open' goes without 'on'"
        ),
        (
            "{ unit = \"a.service\", state = \"ended\", only_by_gate = true }",
            "'a.service': 'only_by_gate' is for units that run while the gate is open"
        ),
        (
            "{ unit = \"a.service\", state = \"closed\" }",
            "'closed' is no state to which units are attached"
        ),
        ("{ unit = \"a.service\", allow = 1 }", "'allow' is true or false, and not an integer"),
        ("{ unit = \"a\" }", "did you mean 'a.service'?"), ("1", "wrong type"),
        (
            "\"a.service\", { unit = \"a.service\", state = \"ended\" }",
            "it names 'a.service' twice"
        ),
    ])
    func aWrongItemIsAnErrorThatNamesIt(_ item: String, _ words: String) {
        for table in [shopTable + "\nunits", shopTable + "\n[attached]\nshop"] {
            let text = errors(in: "\(table) = [\(item)]")
            #expect(text.contains(words), "\(text)")
        }
    }

    @Test func aUnitThatIsListedTwiceInOtherWaysIsAnError() {
        let text = errors(
            in: shopTable + """

                units = ["a.service"]
                [attached]
                shop = [{ unit = "a.service", state = "ended" }]
                """)
        #expect(text.contains("unit 'a.service' of 'shop' in [attached] is other than in 'units'"))
    }
}
