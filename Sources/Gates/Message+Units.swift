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

    /// The status in a PropertiesChanged signal of the interface Unit; nil if the signal has none.
    func unitStatus() throws(BusError) -> UnitStatus? {
        guard try text() == "org.freedesktop.systemd1.Unit" else { return nil }
        return try unitSnapshot()?.seen
    }

    /// The answer to GetAll; nil without an `ActiveState`.
    func unitSnapshot() throws(BusError) -> UnitSnapshot? {
        var snapshot = UnitSnapshot(UnitStatus(.inactive))
        var (isTold, isAssertionTrue, wasTested) = (false, true, false)
        try properties { name throws(BusError) in
            switch name {
            case "ActiveState":
                guard let active = ActiveState(rawValue: try word()) else { return true }
                snapshot.seen.active = active
                isTold = true
            case "LoadState": snapshot.seen.load = UnitLoad(try word())
            case "Type": snapshot.isOneshot = try word() == "oneshot"
            case "Job": snapshot.seen.hasJob = try hasJob()
            case "StateChangeTimestamp": snapshot.seen.since = try wallStamp()
            case "Result": snapshot.result = try word()
            case "InactiveEnterTimestampMonotonic": snapshot.downSince = try stamp()
            case "InactiveExitTimestampMonotonic": snapshot.leftDown = try stamp()
            case "ActiveEnterTimestampMonotonic": snapshot.upSince = try stamp()
            case "AssertResult": isAssertionTrue = try flag()
            // Nil before the first start, when the result is "no" too.
            case "AssertTimestampMonotonic": wasTested = try stamp() != nil
            case "TimeoutStopUSec": snapshot.stopLimit = try limit()
            case "TimeoutStartUSec": snapshot.startLimit = try limit()
            // A socket has one limit for its stop and its start.
            case "TimeoutUSec":
                snapshot.stopLimit = try limit()
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
        snapshot.isStartRefused = wasTested && !isAssertionTrue
        return isTold ? snapshot : nil
    }

    /// Whether the next variant names a job: its number is not 0.
    private func hasJob() throws(BusError) -> Bool { try inside("v", "(uo)", job) != 0 }

    private func job() throws(BusError) -> UInt32 {
        try inside("r", "uo") { () throws(BusError) in
            let number = try uint32()
            try skip("o")
            return number
        }
    }

    /// The next variant, a Boolean.
    private func flag() throws(BusError) -> Bool { try inside("v", "b", bool) }

    /// The next variant, a string.
    func word() throws(BusError) -> String {
        try inside("v", "s") { () throws(BusError) in try text() }
    }

    /// The next variant, names of units.
    func names() throws(BusError) -> [UnitName] {
        try inside("v", "as", texts).compactMap { UnitName($0) }
    }

    /// The next variant, a limit; nil for the largest number, systemd's "infinity".
    private func limit() throws(BusError) -> Duration? {
        try microseconds(except: .max).map { .microseconds($0) }
    }

    /// The next variant, a time stamp of `CLOCK_MONOTONIC`.
    private func stamp() throws(BusError) -> Uptime? {
        try microseconds(except: 0).map { Uptime(microseconds: $0) }
    }

    /// The next variant, a time stamp of `CLOCK_REALTIME`.
    private func wallStamp() throws(BusError) -> Instant? {
        try microseconds(except: 0).map { Instant(microseconds: $0) }
    }

    /// The next variant, a number of 64 bits; nil if it is the number that means "never".
    private func microseconds(except never: UInt64) throws(BusError) -> Int64? {
        let number = try inside("v", "t", uint64)
        return number == never ? nil : Int64(exactly: number)
    }
}
