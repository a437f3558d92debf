import CivilTime

/// Why a gate is not as its verdict wants it and does not get there by itself.
package enum GateObstacle: Hashable, Sendable {
    /// polkit did not permit the move, or could not be asked; systemd's words.
    case noPermission(String)
    /// systemd has no such target.
    case noTarget(String)
    /// systemd refuses the move for another reason.
    case refused(String)
    /// The bus is not there, or does not answer.
    case noBus(String)
    /// The bus is there, and systemd has not answered.
    case silent
    /// systemd accepts each move, and the targets stay as they are.
    case noEffect
    /// The targets have moved, and a unit runs on.
    case escaped(UnitName, UnitProblem)

    /// The problem as a clause about a service.
    package var sentence: String {
        switch self {
        case .noPermission(let words): "\(Self.stuck): polkit does not permit it (\(words))"
        case .noTarget(let words): "\(Self.stuck): systemd lacks the target (\(words))"
        case .refused(let words), .noBus(let words): "\(Self.stuck): \(words)"
        case .silent: "\(Self.stuck): systemd does not answer"
        case .noEffect: "\(Self.stuck): systemd accepts the move, and nothing changes"
        case .escaped(let unit, let problem): "unit '\(unit)' is not down: \(problem.sentence)"
        }
    }

    /// What an operator can do about it, as a clause.
    package var advice: String {
        switch self {
        case .noPermission: "see 'systemctl status polkit'"
        case .noTarget: "install the package again, and type 'systemctl daemon-reload'"
        case .noBus: "see 'systemctl status dbus'"
        case .refused, .silent, .noEffect: "see 'journalctl -b _PID=1'"
        case .escaped(let unit, let problem): problem.advice(for: unit)
        }
    }

    /// systemd's words for the refusal of a job.
    var refusal: String {
        switch self {
        case .noPermission(let words): "polkit does not permit it (\(words))"
        case .noTarget(let words), .refused(let words), .noBus(let words): words
        case .silent, .noEffect, .escaped: sentence
        }
    }

    private static let stuck = "its gate cannot be moved"
}

/// The problem of an attached unit.
package enum UnitProblem: Hashable, Sendable {
    /// It is not down after this time.
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

    /// Who has to act on it.
    package var level: Notice.Level {
        switch self {
        case .late, .failed, .startRefused, .escaped: .error
        case .killed, .runningWhileClosed, .lost: .warning
        }
    }

    /// Whether it is over without anybody: the unit is down by now, or is being stopped.
    var passes: Bool {
        switch self {
        case .killed, .runningWhileClosed: true
        case .late, .failed, .startRefused, .escaped, .lost: false
        }
    }

    /// Whether a move of its gate has not gone well for it.
    var spoilsMove: Bool { level == .error || self == .killed }

    /// The problem as a clause about the unit.
    package var sentence: String {
        switch self {
        case .late(let limit): "it has not stopped within its limit of \(limit.wholeSeconds) s"
        case .killed: "it did not stop by itself and was killed when its limit was over"
        case .failed(let result): "it has failed: \(result)"
        case .startRefused: "an assertion in its unit file (Assert…=) has refused its start"
        case .runningWhileClosed: "it ran behind a closed gate, and is being stopped"
        case .escaped(let load):
            "it runs behind the closed gate, which did not stop it"
                + (load.problem.map { ": \($0)" } ?? "")
        case .lost(let load): load.problem ?? "systemd cannot use its unit file"
        }
    }

    /// What an operator can do about it, as a clause.
    package func advice(for unit: UnitName) -> String {
        switch self {
        case .late, .killed, .failed, .startRefused: "see 'systemctl status \(unit)'"
        case .runningWhileClosed: "find out who starts it: 'journalctl -b -u \(unit)'"
        case .escaped: "stop it yourself: 'systemctl stop \(unit)'"
        case .lost: "give it a unit file again, or type 'killswitchctl detach'"
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

    /// The load state of this word.
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
