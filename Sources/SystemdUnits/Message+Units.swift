import CivilTime
import Decision
import Gates
import Systemd

/// Reads the messages of systemd's manager: org.freedesktop.systemd1(5).
extension Message {
    /// The answer to ListUnitsByPatterns.
    func loadedUnits() throws(BusError) -> [UnitName: UnitStatus] {
        var units: [UnitName: UnitStatus] = [:]
        try each("(ssssssouso)") { () throws(BusError) in
            try inside("r", "ssssssouso") { () throws(BusError) in
                let name = try text()
                try skip("s")
                let load = try text()
                let active = try text()
                try skip("sso")
                let job = try uint32()
                try skip("so")
                guard let unit = UnitName(name), let state = ActiveState(rawValue: active) else {
                    return
                }
                units[unit] = UnitStatus(state, hasJob: job != 0)
                units[unit]?.load = UnitLoad(load)
            }
        }
        return units
    }

    /// The answer to GetUnitProcesses.
    func processes() throws(BusError) -> UnitProcesses {
        var (count, first) = (0, "")
        try each("(sus)") { () throws(BusError) in
            try inside("r", "sus") { () throws(BusError) in
                try skip("s")
                let identifier = try uint32()
                let command = try text()
                if count == 0 { first = "\(identifier) '\(command.prefix(60))'" }
                count += 1
            }
        }
        return UnitProcesses(count: count, first: first)
    }

    /// The status in a PropertiesChanged signal of the interface Unit; nil if the signal has none.
    func unitStatus() throws(BusError) -> UnitStatus? {
        guard try text() == "\(Call.systemd).Unit" else { return nil }
        return try unitSnapshot()?.seen
    }

    /// The answer to GetAll; nil without an `ActiveState`.
    func unitSnapshot() throws(BusError) -> UnitSnapshot? {
        var unit = UnitProperties()
        try properties { name throws(BusError) in try unit.read(name, from: self) }
        return unit.snapshot
    }

    /// `GateEvent.startFailed` in a JobRemoved signal; nil if neither an assertion nor a dependency has ended the job.
    func failedStart() throws(BusError) -> GateEvent? {
        let (number, _, name, result) = try finishedJob()
        guard let unit = UnitName(name), result == "assert" || result == "dependency" else {
            return nil
        }
        return .startFailed(unit, job: number, isByAssertion: result == "assert")
    }

    /// The content of a JobRemoved signal: the number of the job, its path, its unit and its result.
    func finishedJob() throws(BusError) -> (UInt32, job: String, unit: String, result: String) {
        (try uint32(), try text("o"), try text(), try text())
    }

    /// The number of the job in the answer to StartUnit and StopUnit, the last part of its path.
    func jobNumber() throws(BusError) -> UInt32? {
        try text("o").split(separator: "/").last.flatMap { UInt32($0) }
    }

    /// Whether the next variant names a job: its number is not 0.
    fileprivate func hasJob() throws(BusError) -> Bool { try inside("v", "(uo)", job) != 0 }

    private func job() throws(BusError) -> UInt32 {
        try inside("r", "uo") { () throws(BusError) in
            let number = try uint32()
            try skip("o")
            return number
        }
    }

    /// The next variant, the assertions of a unit: the paths that have to exist.
    fileprivate func assertedPaths() throws(BusError) -> [String] {
        try inside("v", "a(sbbsi)") { () throws(BusError) in
            var paths: [String] = []
            try each("(sbbsi)") { () throws(BusError) in
                try inside("r", "sbbsi") { () throws(BusError) in
                    let type = try text()
                    let (isTrigger, isNegated) = (try bool(), try bool())
                    let path = try text()
                    try skip("i")
                    if type == "AssertPathExists", !isTrigger, !isNegated { paths.append(path) }
                }
            }
            return paths
        }
    }

    func flag() throws(BusError) -> Bool { try inside("v", "b", bool) }

    /// The next variant, a string.
    func word() throws(BusError) -> String {
        try inside("v", "s") { () throws(BusError) in try text() }
    }

    /// The next variant, names of units.
    func names() throws(BusError) -> [UnitName] {
        try inside("v", "as", texts).compactMap { UnitName($0) }
    }

    /// The next variant, a limit; nil for the largest number, systemd's "infinity".
    fileprivate func limit() throws(BusError) -> Duration? {
        try microseconds(except: .max).map { .microseconds($0) }
    }

    /// The next variant, a time stamp of `CLOCK_MONOTONIC`.
    fileprivate func stamp() throws(BusError) -> Uptime? {
        try microseconds(except: 0).map { Uptime(microseconds: $0) }
    }

    /// The next variant, a time stamp of `CLOCK_REALTIME`.
    fileprivate func wallStamp() throws(BusError) -> Instant? {
        try microseconds(except: 0).map { Instant(microseconds: $0) }
    }

    /// The next variant, a number of 64 bits; nil if it is the number that means "never".
    private func microseconds(except never: UInt64) throws(BusError) -> Int64? {
        let number = try inside("v", "t", uint64)
        return number == never ? nil : Int64(exactly: number)
    }
}

/// Properties of a unit, as they come in from the variants of an answer.
struct UnitProperties {
    private var read = UnitSnapshot(UnitStatus(.inactive))
    private var hasActiveState = false
    private var isAssertionTrue = true
    private var wasTested = false
    private var isConditionTrue = true
    private var wasConditionTested = false
    private var remains = false

    /// Reads a property from the next variant of a message; false, and nothing is read, if nobody needs it.
    mutating func read(_ name: String, from message: Message) throws(BusError) -> Bool {
        switch name {
        case "ActiveState":
            guard let active = ActiveState(rawValue: try message.word()) else { return true }
            read.seen.active = active
            hasActiveState = true
        case "LoadState": read.seen.load = UnitLoad(try message.word())
        case "Type": read.isOneshot = try message.word() == "oneshot"
        // Active after its work: that is a state, and down is not how it should be.
        case "RemainAfterExit": remains = try message.flag()
        case "ConditionResult": isConditionTrue = try message.flag()
        case "ConditionTimestampMonotonic": wasConditionTested = try message.stamp() != nil
        case "KillMode": read.leavesProcesses = ["process", "none"].contains(try message.word())
        case "Job": read.seen.hasJob = try message.hasJob()
        case "StateChangeTimestamp": read.seen.since = try message.wallStamp()
        case "Result": read.result = try message.word()
        case "InactiveEnterTimestampMonotonic": read.downSince = try message.stamp()
        case "InactiveExitTimestampMonotonic": read.leftDown = try message.stamp()
        case "ActiveEnterTimestampMonotonic": read.upSince = try message.stamp()
        case "AssertResult": isAssertionTrue = try message.flag()
        // Nil before the first start, when the result is "no" too.
        case "AssertTimestampMonotonic": wasTested = try message.stamp() != nil
        case "TimeoutStopUSec": read.stopLimit = try message.limit()
        case "TimeoutStartUSec": read.startLimit = try message.limit()
        // A socket has one limit for its stop and its start.
        case "TimeoutUSec":
            read.stopLimit = try message.limit()
            read.startLimit = read.stopLimit
        case "TriggeredBy": read.triggeredBy = try message.names()
        // systemd stops the units of each of these properties with this unit; systemd.unit(5).
        case "RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf", "PropagatesStopTo":
            let units = try message.names()
            read.stopsWith += units
            if name == "RequisiteOf" { read.requisiteOf = units }
            if name == "RequisiteOf" || name == "PropagatesStopTo" {
                read.tied += units.filter { !read.tied.contains($0) }
            }
        case "Asserts":
            read.refusingServices = Set(
                try message.assertedPaths().compactMap(Attachment.service(ofMarker:)))
        case "Wants": read.wants = try message.names()
        default: return false
        }
        return true
    }

    /// What was read; nil without an `ActiveState`.
    var snapshot: UnitSnapshot? { hasActiveState ? snapshot(read.seen) : nil }

    /// What was read, of a unit with this status. The time of the status is one of the properties.
    func snapshot(_ status: UnitStatus) -> UnitSnapshot {
        var snapshot = read
        snapshot.seen = status
        snapshot.seen.since = read.seen.since
        snapshot.isStartRefused = wasTested && !isAssertionTrue
        snapshot.isConditionUnmet = wasConditionTested && !isConditionTrue
        snapshot.isOneshot = read.isOneshot && !remains
        return snapshot
    }
}
