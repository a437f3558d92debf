import Bus
import CivilTime
import Decision

extension Message {
    /// The answer to GetAll, for a rehearsal; nil where it does not tell how the unit stands.
    func account() throws(BusError) -> UnitAccount? {
        var account = UnitAccount(Seen(.inactive))
        var isTold = false
        try properties { name throws(BusError) in
            switch name {
            case "ActiveState":
                guard let active = ActiveState(rawValue: try word()) else { return true }
                account.seen.active = active
                isTold = true
            case "Job": account.seen.hasJob = try hasJob()
            case "Result": account.result = try word()
            case "InactiveEnterTimestampMonotonic": account.downSince = try stamp()
            case "InactiveExitTimestampMonotonic": account.leftDown = try stamp()
            case "ActiveEnterTimestampMonotonic": account.upSince = try stamp()
            case "TimeoutStopUSec": account.stopLimit = Duration(limit: try number())
            case "TimeoutStartUSec": account.startLimit = Duration(limit: try number())
            // Of sockets, which have one limit for both.
            case "TimeoutUSec":
                account.stopLimit = Duration(limit: try number())
                account.startLimit = account.stopLimit
            case "TriggeredBy": account.triggeredBy = try names()
            // Each hands a stop on; systemd.unit(5).
            case "RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf", "PropagatesStopTo":
                let units = try names()
                account.stopsWith += units
                if name == "RequisiteOf" { account.requisiteOf = units }
            case "Wants": account.wants = try names()
            default: return false
            }
            return true
        }
        return isTold ? account : nil
    }

    /// The next variant, a time stamp of `CLOCK_MONOTONIC`; nil where it is 0, which is never.
    private func stamp() throws(BusError) -> Uptime? {
        let microseconds = try number()
        guard microseconds != 0, let microseconds = Int64(exactly: microseconds) else { return nil }
        return Uptime(microseconds: microseconds)
    }
}
