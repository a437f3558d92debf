import Bus
import CivilTime
import Decision

/// Reads the messages of systemd's manager: org.freedesktop.systemd1(5).
extension Message {
    /// The answer to ListUnitsByPatterns.
    func loadedUnits() throws(BusError) -> [UnitName: UnitStatus] {
        var units: [UnitName: UnitStatus] = [:]
        try each("(ssssssouso)") { () throws(BusError) in
            try inside("r", "ssssssouso") { () throws(BusError) in
                let name = try text()
                try skip("ss")
                let active = try text()
                try skip("sso")
                let job = try uint32()
                try skip("so")
                guard let unit = UnitName(name), let state = ActiveState(rawValue: active) else {
                    return
                }
                units[unit] = UnitStatus(state, hasJob: job != 0)
            }
        }
        return units
    }

    /// The status in a PropertiesChanged signal of the interface Unit; nil if the signal has none.
    func unitStatus() throws(BusError) -> UnitStatus? {
        guard try text() == "org.freedesktop.systemd1.Unit" else { return nil }
        return try unitProperties()?.seen
    }

    /// The answer to GetAll; nil without an `ActiveState`.
    func unitProperties() throws(BusError) -> UnitProperties? {
        var active: ActiveState?
        var (hasJob, since) = (false, Instant?.none)
        var (result, stopLimit) = (String?.none, Duration?.none)
        var (isAssertionTrue, wasTested) = (true, false)
        var (requisiteOf, wants) = ([UnitName](), [UnitName]())
        try properties { name throws(BusError) in
            switch name {
            case "ActiveState": active = ActiveState(rawValue: try word())
            case "Job": hasJob = try self.hasJob()
            case "StateChangeTimestamp": since = Instant(realtime: try number())
            case "Result": result = try word()
            case "AssertResult": isAssertionTrue = try flag()
            // 0 before the first start, when the result is "no" too.
            case "AssertTimestampMonotonic": wasTested = try number() != 0
            case "TimeoutStopUSec": stopLimit = Duration(limit: try number())
            case "RequisiteOf": requisiteOf = try names()
            case "Wants": wants = try names()
            default: return false
            }
            return true
        }
        guard let active else { return nil }
        return UnitProperties(
            UnitStatus(active, hasJob: hasJob, since: since), result: result,
            isStartRefused: wasTested && !isAssertionTrue, stopLimit: stopLimit,
            requisiteOf: requisiteOf, wants: wants)
    }

    private func variant<Value>(
        _ contents: String, _ read: () throws(BusError) -> Value
    ) throws(BusError) -> Value {
        try inside("v", contents, read)
    }

    /// Whether the next variant names a job: its number is not 0.
    func hasJob() throws(BusError) -> Bool {
        try variant("(uo)") { () throws(BusError) in try job() } != 0
    }

    private func job() throws(BusError) -> UInt32 {
        try inside("r", "uo") { () throws(BusError) in
            let number = try uint32()
            try skip("o")
            return number
        }
    }

    /// The next variant, a number of 64 bits.
    func number() throws(BusError) -> UInt64 {
        try variant("t") { () throws(BusError) in try uint64() }
    }

    /// The next variant, a Boolean.
    private func flag() throws(BusError) -> Bool {
        try variant("b") { () throws(BusError) in try bool() }
    }

    /// The next variant, a string.
    func word() throws(BusError) -> String {
        try variant("s") { () throws(BusError) in try text() }
    }

    /// The next variant, names of units.
    func names() throws(BusError) -> [UnitName] {
        try variant("as") { () throws(BusError) in try texts() }.compactMap { UnitName($0) }
    }
}

extension Instant {
    /// A time stamp of systemd; nil for 0, systemd's "never".
    fileprivate init?(realtime: UInt64) {
        guard realtime != 0, let microseconds = Int64(exactly: realtime) else { return nil }
        self.init(microseconds: microseconds)
    }
}

extension Duration {
    /// A limit of systemd; nil for the largest number, systemd's "infinity".
    init?(limit: UInt64) {
        guard limit != .max, let microseconds = Int64(exactly: limit) else { return nil }
        self = .microseconds(microseconds)
    }
}

extension Message {
    /// The answer to GetAll, for a drill; nil without an `ActiveState`.
    func unitSnapshot() throws(BusError) -> UnitSnapshot? {
        var snapshot = UnitSnapshot(UnitStatus(.inactive))
        var isTold = false
        try properties { name throws(BusError) in
            switch name {
            case "ActiveState":
                guard let active = ActiveState(rawValue: try word()) else { return true }
                snapshot.seen.active = active
                isTold = true
            case "Job": snapshot.seen.hasJob = try hasJob()
            case "Result": snapshot.result = try word()
            case "InactiveEnterTimestampMonotonic": snapshot.downSince = try stamp()
            case "InactiveExitTimestampMonotonic": snapshot.leftDown = try stamp()
            case "ActiveEnterTimestampMonotonic": snapshot.upSince = try stamp()
            case "TimeoutStopUSec": snapshot.stopLimit = Duration(limit: try number())
            case "TimeoutStartUSec": snapshot.startLimit = Duration(limit: try number())
            // A socket has one limit for its stop and its start.
            case "TimeoutUSec":
                snapshot.stopLimit = Duration(limit: try number())
                snapshot.startLimit = snapshot.stopLimit
            case "TriggeredBy": snapshot.triggeredBy = try names()
            // systemd stops the units of each of these properties with this unit; systemd.unit(5).
            case "RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf", "PropagatesStopTo":
                let units = try names()
                snapshot.stopsWith += units
                if name == "RequisiteOf" { snapshot.requisiteOf = units }
            case "Wants": snapshot.wants = try names()
            default: return false
            }
            return true
        }
        return isTold ? snapshot : nil
    }

    /// The next variant, a time stamp of `CLOCK_MONOTONIC`; nil for 0, systemd's "never".
    private func stamp() throws(BusError) -> Uptime? {
        let microseconds = try number()
        guard microseconds != 0, let microseconds = Int64(exactly: microseconds) else { return nil }
        return Uptime(microseconds: microseconds)
    }
}
