import Decision
import Gates
package import Systemd

extension GateLogMessage {
    /// The notice as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        let (id, fields) = details
        return JournalEntry(level.priority, sentence, messageID: id.rawValue, fields: fields)
    }

    private var details: (MessageID, [Field]) {
        switch self {
        case .moved(let service, let desired, _, _, _):
            (.gateMoved, [.service(service), .state(desired.state), .gate(desired.gate)])
        case .movedElsewhere(let service, let desired):
            (.gateMovedElsewhere, [.service(service), .state(desired.state), .gate(desired.gate)])
        case .jobRefused(let service, let job, _):
            (
                .gateMoveFailed,
                [.service(service), job.target.unit.map(Field.unit)].compactMap(\.self)
            )
        case .unitProblem(let service, let unit, let problem):
            (problem.messageID, [.service(service), .unit(unit)])
        case .unitsSlow(let service, _, _): (.unitsSlow, [.service(service)])
        case .unitsOrphaned(let service, _): (.unitsOrphaned, [.service(service)])
        case .noticeLost(let service): (.noticeLost, [.service(service)])
        case .publishFailed(let service, _): (.recordFailed, [.service(service)])
        case .busLost: (.busLost, [])
        case .busRecovered: (.busRecovered, [])
        case .startsRefused(let service, let unit, let count, _, _, let verdict):
            (
                .startRefused,
                [.service(service), .unit(unit), Field("KILLSWITCH_REFUSED_STARTS", "\(count)")]
                    + (verdict?.fields(of: service) ?? [])
            )
        case .systemdSilent: (.systemdSilent, [])
        case .systemdAnswers: (.systemdAnswers, [])
        }
    }
}

extension UnitProblem {
    fileprivate var messageID: MessageID {
        switch self {
        case .late: .unitLate
        case .killed: .unitKilled
        case .failed, .startRefused: .unitFailed
        case .runningWhileClosed: .unitIntruding
        case .escaped, .lost: .unitLost
        case .processesLeft: .unitLeftProcesses
        case .attaching, .unattached: .unitUnattached
        case .startWaits: .startWaits
        }
    }
}
