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
        case .moveFailed: .gateMoveFailed
        case .movedElsewhere: .gateMovedElsewhere
        case .unitTrouble(_, _, .late): .unitLate
        case .unitTrouble(_, _, .killed): .unitKilled
        case .unitTrouble(_, _, .failed): .unitFailed
        case .unitTrouble(_, _, .intruding): .unitIntruding
        case .busLost: .busLost
        case .busRecovered: .busRecovered
        case .orphaned: .unitsOrphaned
        case .unpublished: .recordFailed
        }
    }

    private var fields: [Field] {
        switch self {
        case .moved(let service, let stand, _, _), .movedElsewhere(let service, let stand):
            [
                JournalField.service(service.text), JournalField.state(stand.state.rawValue),
                JournalField.gate(stand.gate.rawValue),
            ]
        case .moveFailed(let service, let move, _):
            [JournalField.service(service.text)]
                + (move.target.unit.map { [JournalField.unit($0.text)] } ?? [])
        case .unitTrouble(let service, let unit, _):
            [JournalField.service(service.text), JournalField.unit(unit.text)]
        case .orphaned(let service, _), .unpublished(let service, _):
            [JournalField.service(service.text)]
        case .busLost, .busRecovered:
            []
        }
    }
}
