import CivilTime
package import Decision

/// Why a gate is not as its verdict wants it and does not get there by itself.
package enum GateObstacle: Hashable, Sendable {
    /// systemd has no such target.
    case noTarget(String)
    /// systemd refuses the move for another reason.
    case refused(String)
    /// The bus is not there, or does not answer.
    case noBus(String)
    /// The bus is there, and systemd has not answered.
    case silent
    /// Root's mover has not answered for a second; `isLasting`: for ten.
    case unanswered(isLasting: Bool)
    /// systemd accepts each move, and the targets stay as they are.
    case noEffect
    /// The targets have moved, and a unit runs on.
    case escaped(UnitName, UnitProblem)

    /// The problem as a clause about a service.
    package var sentence: String {
        switch self {
        case .noTarget(let words): "\(Self.stuck): systemd lacks the target (\(words))"
        case .refused(let words): "\(Self.stuck): \(words)"
        case .noBus(let words): "what became of its gate is not known: \(words)"
        case .silent: "what became of its gate is not known: systemd does not answer"
        case .unanswered: "\(Self.stuck): \(Self.silence)"
        case .noEffect: "\(Self.stuck): systemd accepts the job, but the targets do not change"
        case .escaped(let unit, let problem): "unit '\(unit)': \(problem.sentence)"
        }
    }

    /// What an operator can do about it, as a clause.
    package var advice: String {
        switch self {
        case .unanswered: "see 'systemctl status killswitchd-gates.service'"
        case .noTarget: "install the package again, and type 'systemctl daemon-reload'"
        case .noBus: "see 'systemctl status dbus'"
        case .refused, .silent, .noEffect: "see 'journalctl -b _PID=1'"
        case .escaped(let unit, let problem): problem.advice(for: unit, of: nil)
        }
    }

    /// systemd's words for the refusal of a job.
    var refusal: String {
        switch self {
        case .noTarget(let words), .refused(let words), .noBus(let words): words
        case .silent, .unanswered, .noEffect, .escaped: sentence
        }
    }

    /// Whether the gate is stuck. Otherwise the move may go on by itself in a moment.
    var isLasting: Bool {
        switch self {
        case .noBus, .silent: false
        case .unanswered(let isLasting): isLasting
        case .noTarget, .refused, .noEffect, .escaped: true
        }
    }

    /// What is known while a request is not answered.
    static let silence =
        "killswitchd-gates.service, which moves gates, does not answer"

    private static let stuck = "its gate cannot be moved"
}

/// The problem of an attached unit.
package enum UnitProblem: Hashable, Sendable {
    case late(limit: Duration)
    /// systemd has killed it, because its stop limit was over.
    case killed
    /// It should run, and has failed with this result.
    case failed(result: String)
    /// It should run, and an assertion in its unit file has refused its start.
    case startRefused
    /// It ran behind a closed gate, and is being stopped.
    case runningWhileClosed
    /// It runs behind a closed gate, and the gate does not stop it.
    case escaped(UnitLoad)
    /// systemd has no usable file of it any more, so that the gate alone cannot start it.
    case lost(UnitLoad)
    /// It is down, and processes of it run on, because its `KillMode=` leaves them.
    case processesLeft(UnitProcesses)
    /// The configuration lists it, and it is being attached.
    case attaching
    /// The configuration lists it, and it is not attached, for this reason.
    case unattached(String)
    /// Somebody starts it while its gate closes, and the start waits for the stop of this unit.
    case startWaits(UnitName)

    /// The kind of finding that it is; nil for one that is over in a moment by itself.
    package var kind: Finding.Kind? {
        switch self {
        case .late: .unitLate
        case .killed: .unitKilled
        case .failed, .startRefused: .unitFailed
        case .runningWhileClosed: .unitIntruding
        case .escaped, .lost: .unitLost
        case .processesLeft: .unitLeftProcesses
        case .attaching: nil
        case .unattached: .unitUnattached
        case .startWaits: .unitStartWaits
        }
    }

    /// The finding about a unit of these services, whose name is in the advice; nil for none.
    func finding(of unit: UnitName, _ services: Set<ServiceName>, matter: String = "") -> Finding? {
        guard let kind else { return nil }
        let level: LogMessage.Level? = if case .escaped = self { .error } else { nil }
        return Finding(
            .unit(unit, of: services.sorted()), kind, sentence, matter: matter, isAlarm: !passes,
            level: level, advice: services.min().map { advice(for: unit, of: $0) })
    }

    /// Whether it is over without anybody: the unit is down by now, or is being stopped.
    var passes: Bool {
        switch self {
        case .killed, .runningWhileClosed, .attaching, .startWaits: true
        case .late, .failed, .startRefused, .escaped, .lost, .unattached, .processesLeft: false
        }
    }

    /// Whether a move of its gate has not gone well for it.
    var spoilsMove: Bool {
        if case .lost = self { false } else { !passes || self == .killed }
    }

    /// The problem as a clause about the unit.
    package var sentence: String {
        switch self {
        case .late(let limit): "it has not stopped within its limit of \(limit.wholeSeconds) s"
        case .killed: "it did not stop within its stop limit, and systemd killed it"
        case .failed(let result): "it failed with result '\(result)'"
        case .startRefused: "an assertion in its unit file (Assert…=) has refused its start"
        case .runningWhileClosed: "it ran although the gate is closed; killswitchd is stopping it"
        case .escaped(let load):
            "it still runs although the gate is closed" + (load.problem.map { ": \($0)" } ?? "")
        case .lost(let load): load.problem ?? "systemd cannot use its unit file"
        case .processesLeft(let left):
            "it is inactive, and \(left.count) of its processes "
                + "\(left.count == 1 ? "runs" : "run") on (\(left.first)), because its KillMode= leaves them"
        case .attaching: "the configuration lists it, and it is being attached"
        case .unattached(let why): "the configuration lists it, and it is not attached: \(why)"
        case .startWaits(let unit):
            "a start of it waits until unit '\(unit)' has stopped, and is refused then"
        }
    }

    /// What an operator can do about it, as a clause. The unit is attached to `service`, if that is known.
    package func advice(for unit: UnitName, of service: ServiceName?) -> String {
        let detach = "killswitchctl detach \(service?.text ?? "SERVICE") \(unit)"
        return switch self {
        case .late, .killed, .failed, .startRefused: "see 'systemctl status \(unit)'"
        case .runningWhileClosed: "find out who starts it: 'journalctl -b -u \(unit)'"
        case .escaped: "stop it yourself: 'systemctl stop \(unit)'"
        case .lost(.masked): "type 'systemctl unmask \(unit)', or: \(detach)"
        case .lost: "restore its file and type 'systemctl daemon-reload', or: \(detach)"
        case .processesLeft: "end them with 'systemctl kill \(unit)', or set another KillMode="
        case .attaching: "it is a matter of seconds"
        case .unattached:
            "correct the unit, or 'units' in the configuration, then type 'killswitchctl reload'"
        case .startWaits(let other):
            "see 'systemctl status \(other)', and 'systemctl list-jobs' for the start"
        }
    }
}

/// `LoadState` of org.freedesktop.systemd1(5): whether systemd has a unit file to go by.
package enum UnitLoad: Hashable, Sendable {
    case loaded
    case missing
    case masked
    /// Another word, such as `bad-setting`.
    case other(String)

    package init(_ word: String) {
        self =
            switch word {
            case "loaded": .loaded
            case "not-found": .missing
            case "masked": .masked
            default: .other(word)
            }
    }

    /// Why systemd does not tie the unit to its gate, as a clause; nil if it does.
    var problem: String? {
        switch self {
        case .loaded: nil
        case .missing: "its unit file is gone"
        case .masked: "it is masked"
        case .other(let word): "systemd cannot use its unit file (\(word))"
        }
    }
}
