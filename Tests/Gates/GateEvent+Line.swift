import CivilTime
import Decision
import Gates
import Support

/// How a transcript writes an event: `shop decided: closed ended`. Commas separate a list, and `none` is an empty one.
extension GateEvent {
    /// The event of this line.
    init(line: String) throws {
        guard
            let event = try Self.plain[line] ?? Self.ofService(line) ?? Self.ofList(line)
                ?? Self.ofJob(line) ?? Self.ofUnit(line)
        else { throw TestFailure("'\(line)' is no event") }
        self = event
    }

    private static let plain: [String: GateEvent] = [
        "started": .started, "woke": .woke,
        "the bus may be back": .busAppeared,
        "systemd reloaded": .systemdReloaded,
        "the system is up": .systemStateRead(isStopping: false),
        "the system is stopping": .systemStateRead(isStopping: true),
        "attaching has ended": .attachEnded(AttachmentOutcome()),
    ]

    private static func ofService(_ line: String) throws -> GateEvent? {
        let decided = /(\S+) decided: (\w+) ([^ ,]+)(?: ([^ ,]+))?(?:, drains until (\S+)s)?/
        if let parts = line.wholeMatch(of: decided) {
            let desired = DesiredGate(
                gate: try word(parts.2), state: try word(parts.3), variant: parts.4.map(String.init)
            )
            let end = try parts.5.map { TranscribedGates.time(try number($0)) }
            return .decided(try named("\(parts.1)"), desired, drainsUntil: end)
        }
        if let parts = line.wholeMatch(of: /(\S+) files cannot be written: (.+)/) {
            return .writeFailed(try named("\(parts.1)"), problem: "\(parts.2)")
        }
        guard let parts = line.wholeMatch(of: /(\S+) (opens once .+|withdrawn|has .+|files .+)/)
        else {
            return nil
        }
        return switch parts.2 {
        case "opens once its files are written": .openingDelayed(try named("\(parts.1)"))
        case "withdrawn": .withdrawn(try named("\(parts.1)"))
        case "has a notice": .announced(try named("\(parts.1)"), .notice)
        case "has changed": .announced(try named("\(parts.1)"), .change)
        case "files deleted": .filesDeleted(try named("\(parts.1)"))
        default: nil
        }
    }

    private static func ofList(_ line: String) throws -> GateEvent? {
        guard let parts = line.wholeMatch(of: /([a-z -]+): (.+)/) else { return nil }
        let items = parts.2 == "none" ? [] : parts.2.split(separator: ", ").map(String.init)
        switch parts.1 {
        case "bus lost": return .busLost(problem: "\(parts.2)")
        case "targets listed": return .targetsListed(try statuses(items))
        case "units listed": return .unitsListed(try statuses(items))
        case "configuration lists":
            return .unitsListedByConfiguration(
                try items.reduce(into: [:]) { units, item in
                    let words = item.split(separator: " ")
                    units[try named("\(words[0])")] = try unitNames(words.dropFirst())
                        .map { ConfiguredUnit($0) }
                })
        case "attachments", "attachments kept":
            let attachments = try items.flatMap { item in
                let words = item.split(separator: " ")
                let target = try target(words[0])
                return try unitNames(words.dropFirst()).map {
                    Attachment(target: target, unit: $0)
                }
            }
            var outcome = AttachmentOutcome()
            if parts.1 == "attachments" {
                outcome.wanted = attachments
            } else {
                outcome.kept = attachments
            }
            return .attachmentsRead(outcome)
        default: return nil
        }
    }

    private static func ofJob(_ line: String) throws -> GateEvent? {
        if let parts = line.wholeMatch(of: /(start|stop) (\S+) queued(?: as job (\d+))?/) {
            let job = try job(parts.1, parts.2)
            return .jobAnswered(job, problem: nil, number: try parts.3.map(whole) ?? 0)
        }
        if let parts = line.wholeMatch(of: /(start|stop) (\S+) refused: (.+)/) {
            return .jobAnswered(try job(parts.1, parts.2), problem: .refused("\(parts.3)"))
        }
        if line == "attaching queued" { return .attachAnswered(problem: nil) }
        if let parts = line.wholeMatch(of: /attaching refused: (.+)/) {
            return .attachAnswered(problem: .refused("\(parts.1)"))
        }
        if let parts = line.wholeMatch(of: /attaching has ended, (.+)/) {
            return .attachEnded(try outcome(parts.1))
        }
        let failed = /job (\d+) to start (\S+) failed by (?:(an assertion)|a dependency)/
        guard let parts = line.wholeMatch(of: failed) else { return nil }
        return .startFailed(
            try unitName("\(parts.2)"), job: try whole(parts.1), isByAssertion: parts.3 != nil)
    }

    private static func ofUnit(_ line: String) throws -> GateEvent? {
        if let parts = line.wholeMatch(of: /(\S+) is (.+)/) {
            return .unitChanged(try unitName("\(parts.1)"), try status(parts.2))
        }
        if let parts = line.wholeMatch(of: /(\S+) read: (.+)/) {
            let snapshot = parts.2 == "nothing" ? nil : try UnitSnapshot(text: parts.2)
            return .unitRead(try unitName("\(parts.1)"), snapshot)
        }
        guard let parts = line.wholeMatch(of: /(\S+) has (?:unknown|(\d+)) processes(?:: (.+))?/)
        else { return nil }
        let processes = try parts.2.map {
            UnitProcesses(count: Int(try whole($0)), first: String(parts.3 ?? ""))
        }
        return .processesCounted(try unitName("\(parts.1)"), processes)
    }

    // MARK: Parts of a line

    private static func outcome(_ text: Substring) throws -> AttachmentOutcome {
        var outcome = AttachmentOutcome()
        if let parts = text.wholeMatch(of: /failed: (.+)/) {
            outcome.failure = "\(parts.1)"
        } else if let parts = text.wholeMatch(of: /attached (\S+) to (\S+)/) {
            let attachment = Attachment(
                target: try target(parts.2), unit: try unitName("\(parts.1)"))
            outcome.wanted = [attachment]
            outcome.attached = [ListedUnit(service: attachment.service, name: attachment.unit)]
        } else if let parts = text.wholeMatch(of: /idle trigger (\S+)/) {
            outcome.idleTriggers = [try unitName("\(parts.1)")]
        } else if let parts = text.wholeMatch(of: /(\S+) is an alias of (\S+)/) {
            let unit = try unitName("\(parts.2)")
            outcome.names[try unitName("\(parts.1)")] = unit
            outcome.wanted = [
                Attachment(target: GateTarget(service: "shop", kind: .open), unit: unit)
            ]
        } else if let parts = text.wholeMatch(of: /refused (\S+) of (\S+): (.+)/) {
            let unit = ListedUnit(
                service: try named("\(parts.2)"), name: try unitName("\(parts.1)"))
            outcome.refused[unit] = "\(parts.3)"
        } else {
            throw TestFailure("'\(text)' is no result of attaching")
        }
        return outcome
    }

    private static func job(_ verb: Substring, _ unit: Substring) throws -> TargetJob {
        verb == "start" ? .start(try target(unit)) : .stop(try target(unit))
    }

    private static func target(_ unit: Substring) throws -> GateTarget {
        guard let target = GateTarget(try unitName("\(unit)")) else {
            throw TestFailure("'\(unit)' is no target of a gate")
        }
        return target
    }

    /// `web.service active (masked), …`
    private static func statuses(_ items: [String]) throws -> [UnitName: UnitStatus] {
        try items.reduce(into: [:]) { statuses, item in
            guard let parts = item.wholeMatch(of: /(\S+) (.+)/) else {
                throw TestFailure("'\(item)' is no unit with its state")
            }
            statuses[try unitName("\(parts.1)")] = try status(parts.2)
        }
    }

    /// `activating with a job (loaded)`: the word in parentheses is systemd's `LoadState`.
    static func status(_ text: Substring) throws -> UnitStatus {
        let pattern = /([a-z]+)( with a job)?(?: \(([a-z-]+)\))?(?: since ([0-9.]+)s)?/
        guard let parts = text.wholeMatch(of: pattern) else {
            throw TestFailure("'\(text)' is no state of a unit")
        }
        var status = UnitStatus(try word(parts.1), hasJob: parts.2 != nil)
        status.load = parts.3.map { UnitLoad(String($0)) }
        status.since = try parts.4.map { Instant(microseconds: Int64(try number($0) * 1_000_000)) }
        return status
    }

    static func unitNames(_ words: ArraySlice<Substring>) throws -> [UnitName] {
        try words.map { try unitName(String($0)) }
    }

    private static func word<Word: RawRepresentable<String>>(_ text: Substring) throws -> Word {
        guard let word = Word(rawValue: String(text)) else {
            throw TestFailure("'\(text)' is no \(Word.self)")
        }
        return word
    }

    static func number(_ text: Substring) throws -> Double {
        guard let number = Double(text) else { throw TestFailure("'\(text)' is no number") }
        return number
    }

    private static func whole(_ text: Substring) throws -> UInt32 {
        guard let number = UInt32(text) else { throw TestFailure("'\(text)' is no whole number") }
        return number
    }
}

extension UnitSnapshot {
    /// `active, stop limit 10s, starts web.service`: what is not mentioned is not known.
    fileprivate init(text: Substring) throws {
        let fields = text.split(separator: ", ")
        self.init(try GateEvent.status(fields[0]))
        for field in fields.dropFirst() {
            if field == "start refused" {
                isStartRefused = true
            } else if field == "condition unmet" {
                isConditionUnmet = true
            } else if field == "oneshot" {
                isOneshot = true
            } else if field == "leaves processes" {
                leavesProcesses = true
            } else if let parts = field.wholeMatch(of: /result (\S+)/) {
                result = String(parts.1)
            } else if let parts = field.wholeMatch(of: /(up|down) since boot ([0-9.]+)s/) {
                let moment = Uptime(microseconds: Int64(try GateEvent.number(parts.2) * 1_000_000))
                if parts.1 == "up" { upSince = moment } else { downSince = moment }
            } else if let parts = field.wholeMatch(of: /(start|stop) limit ([0-9.]+)s/) {
                let limit = Duration.seconds(try GateEvent.number(parts.2))
                if parts.1 == "start" { startLimit = limit } else { stopLimit = limit }
            } else if let parts = field.wholeMatch(of: /(refuses for|triggered by) (.+)/) {
                let names = parts.2.split(separator: " ")
                if parts.1 == "triggered by" {
                    triggeredBy = try GateEvent.unitNames(names[...])
                } else {
                    let services: [ServiceName] =
                        try parts.2 == "none" ? [] : names.map { try named("\($0)") }
                    refusingServices = Set<ServiceName>(services)
                }
            } else if let parts = field.wholeMatch(of: /(starts|permits|wants) (.+)/) {
                let units = try GateEvent.unitNames(parts.2.split(separator: " ")[...])
                if parts.1 != "wants" { tied += units }
                if parts.1 != "permits" { wants += units }
            } else {
                throw TestFailure("'\(field)' is no property of a unit")
            }
        }
    }
}
