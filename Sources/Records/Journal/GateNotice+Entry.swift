package import Decision
package import Journal

extension GateNotice {
    /// The notice as a journal entry: the sentence, and a field for each fact that is present.
    package var entry: JournalEntry {
        JournalEntry(level.priority, sentence, messageID: messageID.rawValue, fields: fields)
    }

    private var messageID: MessageID {
        switch self {
        case .moved: .gateMoved
        case .jobRefused: .gateMoveFailed
        case .movedElsewhere: .gateMovedElsewhere
        case .unitProblem(_, _, .late): .unitLate
        case .unitProblem(_, _, .killed): .unitKilled
        case .unitProblem(_, _, .failed), .unitProblem(_, _, .startRefused): .unitFailed
        case .unitProblem(_, _, .runningWhileClosed): .unitIntruding
        case .busLost: .busLost
        case .busRecovered: .busRecovered
        case .unitsOrphaned: .unitsOrphaned
        case .publishFailed: .recordFailed
        }
    }

    private var fields: [Field] {
        switch self {
        case .moved(let service, let desired, _, _), .movedElsewhere(let service, let desired):
            [
                JournalField.service(service.text), JournalField.state(desired.state.rawValue),
                JournalField.gate(desired.gate.rawValue),
            ]
        case .jobRefused(let service, let job, _):
            [JournalField.service(service.text)]
                + (job.target.unit.map { [JournalField.unit($0.text)] } ?? [])
        case .unitProblem(let service, let unit, _):
            [JournalField.service(service.text), JournalField.unit(unit.text)]
        case .unitsOrphaned(let service, _), .publishFailed(let service, _):
            [JournalField.service(service.text)]
        case .busLost, .busRecovered:
            []
        }
    }
}
