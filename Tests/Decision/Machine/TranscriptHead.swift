import CivilTime
import Configuration
import Decision
import Support

/// The head of a transcript: the configuration and the world in which its events happen.
///
/// Tables are those of killswitchd.toml(5), with other defaults. Without a `[service.NAME]` there is the service
/// `shop`. A service reads the flags of source `app` by the format `service-end` in UTC, and tells no notices. A source
/// or a guard needs no table.
///
/// The lines before the first table say how the host is:
///
///     start = "2027-03-01T12:00:00Z"   # the wall clock at 0s
///     host = "this-host"               # its name, or `slot = 123456` for a fixed slot
///     shows = ["sleep"]                # effects that are left out otherwise
///
/// Other tables hold what an earlier run has stored. They may leave out their times, an hour before the start, and the
/// state of a service has begun when the first flags were fetched:
///
///     [stored.app]                     # flags; a list has the newest first
///     flags = '{"service_end": "no"}'
///     fetched = "2027-03-01T10:00:00Z"
///     confirmed = "2027-03-01T11:59:00Z"
///     version = 7                      # of its signed documents
///
///     [ledger.shop]                    # generation 7, unless given
///     state = "running"
///     boot = "another-boot"            # not this one
///
///     [override.shop]                  # from the start on, by root, for a disk swap
///     state = "ended"
///     until = "2027-03-01T12:30:00Z"   # an hour later, unless given
struct TranscriptHead {
    /// The files of the configuration: the tables of the head, then what reloads have changed.
    private var configuration: [String]
    /// The services that a reload has removed.
    private var removed: Set<String> = []
    private(set) var start = Instant(seconds: 0)
    private(set) var place = HostPlace.named("")
    private(set) var showsSleep = false
    private(set) var memory = Memory()

    init(_ text: String) throws {
        // A line of another kind becomes an empty one, so that errors name the right line.
        var (settings, world) = ([String](), [String]())
        var isSetting = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("[") {
                let name = line.drop { $0 == "[" }.prefix { $0 != "." && $0 != "]" }
                isSetting = !Self.tables.contains(String(name))
            }
            settings.append(isSetting ? String(line) : "")
            world.append(isSetting ? "" : String(line))
        }
        configuration = [settings.joined(separator: "\n")]
        try read(HeadTable(try Self.table(world.joined(separator: "\n"))))
    }

    private static let tables = ["stored", "ledger", "override"]

    private static func table(_ text: String) throws -> Table {
        try Table(toml: Array(text.utf8), file: "head")
    }

    private mutating func read(_ head: HeadTable) throws {
        start = try head.time("start") ?? Instant(rfc3339: "2027-03-01T12:00:00Z")
        place = .named(try head.text("host") ?? "")
        if let number = try head.number("slot") {
            guard let slot = Slot(number) else { throw TestFailure("'\(number)' is no slot") }
            place = .fixed(slot)
        }
        showsSleep = try head.texts("shows") == ["sleep"]
        var (ledger, overrides) = (Ledger(), [ServiceName: Override]())
        for (name, table) in try head.tables("stored") {
            memory.flags[try named(name)] = try stored(table)
        }
        for (name, table) in try head.tables("ledger") {
            ledger.entries[try named(name)] = try entry(table)
        }
        for (name, table) in try head.tables("override") {
            overrides[try named(name)] = try override(table)
        }
        (memory.ledger, memory.overrides) = (.known(ledger), .known(overrides))
        try head.refuseOthers()
    }

    private func stored(_ table: HeadTable) throws -> Memory.StoredFlags {
        let fetched = try table.time("fetched") ?? start - .seconds(3600)
        let bodies = try table.texts("flags") ?? []
        var stored = Memory.StoredFlags(
            answers: try bodies.map { try answer($0, fetchedAt: fetched) },
            confirmedAt: try table.time("confirmed") ?? fetched)
        if let version = try table.number("version") {
            stored.accepted = .known(AcceptedVersion(number: Int64(version), digest: []))
        }
        try table.refuseOthers()
        return stored
    }

    private func entry(_ table: HeadTable) throws -> Ledger.Entry {
        let entry = Ledger.Entry(
            state: try table.word("state"), since: try table.time("since") ?? usualSince,
            generation: try table.number("generation") ?? 7,
            bootID: try table.text("boot") ?? "this-boot")
        try table.refuseOthers()
        return entry
    }

    private var usualSince: Instant {
        memory.flags.values.compactMap(\.answers.first?.fetchedAt).min() ?? start
            - .seconds(3600)
    }

    private func override(_ table: HeadTable) throws -> Override? {
        let override = Override(
            state: try table.word("state"), cause: "disk swap", author: "root",
            since: try table.time("since") ?? start,
            until: try table.time("until") ?? start + .seconds(3600))
        try table.refuseOthers()
        return override
    }

    /// Reads the configuration again, as a drop-in `changes` it. A removed service that it names is there again.
    mutating func reload(with changes: String) throws -> Plan {
        configuration.append(changes)
        let services = try HeadTable(try Self.table(changes)).tables("service").map(\.0)
        removed.subtract(services)
        return try plan
    }

    /// The next reload removes a service.
    mutating func remove(service: String) { removed.insert(service) }

    /// The configuration in force.
    var plan: Plan {
        get throws {
            var all = try Self.table("")
            for text in configuration { all.merge(try Self.table(text)) }
            let files = [try Self.defaults(of: HeadTable(all))] + configuration
            var plan = try Settings(
                files: files.enumerated().map { ($0 == 1 ? "head" : "file \($0)", Array($1.utf8)) },
                zones: .ofThisSystem()
            ).plan
            plan.services.removeAll { removed.contains($0.name.text) }
            let used = Set(plan.services.flatMap(\.switches).map(\.source))
            plan.sources.removeAll { !used.contains($0.name) }
            return plan
        }
    }
}

extension TranscriptHead {
    /// What the tables of a transcript need not say.
    private static func defaults(of root: HeadTable) throws -> String {
        var services = try root.tables("service")
        if services.isEmpty { services = [("shop", HeadTable(try Self.table("")))] }
        var (sources, guards, lines) = ([String](), [String](), [String]())
        for (name, table) in services {
            lines += ["[service.\(name)]", "time_zone = 'UTC'", "notify_before = []"]
            let switches = try table.list("switch")
            if switches.isEmpty {
                lines += ["source = 'app'", "format = 'service-end'"]
            }
            for plan in switches.isEmpty ? [table] : switches {
                let source = try plan.text("source") ?? "app"
                if !sources.contains(source) { sources.append(source) }
            }
            if let name = try table.text("guard"), !guards.contains(name) { guards.append(name) }
        }
        let tables = Dictionary(uniqueKeysWithValues: try root.tables("source"))
        for name in sources {
            lines.append("[source.\(name)]")
            if try tables[name]?.text("type") == nil {
                lines += ["type = 'http'", "url = 'https://example.org/\(name)'"]
            }
            if try tables[name]?.text("audience") != nil { lines.append("signers = 'signers'") }
        }
        for name in guards {
            lines += ["[guard.\(name)]", "url = 'https://example.org/\(name)'"]
        }
        return lines.joined(separator: "\n")
    }
}
