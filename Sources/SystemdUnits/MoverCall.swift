import CivilTime
import Decision
import Gates
import Systemd

/// What root's mover asks of systemd, beside the list of targets: there is nothing else that it could ask.
enum MoverCall {
    /// Starts or stops the target of a gate.
    case move(TargetJob)
    /// Starts the unit that attaches the units of the configuration, for the request of this number.
    case attach(UInt64)

    var message: Call {
        switch self {
        case .move(let job):
            .manager(
                "move '\(job.target)'", job.isStart ? "StartUnit" : "StopUnit",
                [.text(job.target.unit?.text ?? ""), .text("replace")])
        case .attach:
            .manager(
                "start '\(Self.attachUnit)'", "StartUnit",
                [.text(Self.attachUnit), .text("replace")])
        }
    }

    private static let attachUnit = "killswitchd-attach.service"
}

extension Call {
    /// Lists the targets of all gates that are loaded.
    static var ourTargets: Call {
        .manager("list targets", "ListUnitsByPatterns", [.texts([]), .texts([GateTarget.pattern])])
    }
}

extension Message {
    /// The answer to `ourTargets`, with the direction of each job.
    func listedTargets() throws(BusError) -> [GateTarget: ListedTarget] {
        var targets: [GateTarget: ListedTarget] = [:]
        try each("(ssssssouso)") { () throws(BusError) in
            try inside("r", "ssssssouso") { () throws(BusError) in
                let name = try text()
                try skip("ss")
                let active = try text()
                try skip("sso")
                let job = try uint32()
                let type = try text()
                try skip("o")
                guard let target = UnitName(name).flatMap({ GateTarget($0) }),
                    let state = ActiveState(rawValue: active)
                else { return }
                // Others, such as verify-active, which asks whether it is up at boot, change nothing.
                let directions = ["start": true, "restart": true, "stop": false]
                targets[target] = ListedTarget(
                    state, isStarting: job == 0 ? nil : directions[type])
            }
        }
        return targets
    }
}
