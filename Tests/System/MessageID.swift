import Decision

/// The `MESSAGE_ID` by which a test looks for a line in the journal.
struct MessageID {
    let rawValue: String

    /// Of a finding that came.
    static func came(_ kind: Finding.Kind) -> MessageID {
        MessageID(rawValue: kind.row.messageID ?? "")
    }

    /// Of an event.
    static func event(_ kind: LogMessage.Kind) -> MessageID {
        MessageID(rawValue: kind.row.messageID)
    }

    static var decided: Self { event(.decided) }
    static var closingHeld: Self { event(.closingHeld) }
    static var released: Self { event(.released) }
    static var overrideExpired: Self { event(.overrideExpired) }
    static var drilled: Self { event(.drilled) }
    static var noticePublished: Self { event(.noticePublished) }
    static var gateMoved: Self { event(.gateMoved) }
    static var gateMovedElsewhere: Self { event(.gateMovedElsewhere) }
    static var startRefused: Self { event(.startRefused) }
    static var unitsSlow: Self { event(.unitsSlow) }
    static var gateMoveFailed: Self { came(.gate) }
    static var busLost: Self { came(.bus) }
    static var moverSilent: Self { came(.moverSilent) }
    static var unitLate: Self { came(.unitLate) }
    static var unitKilled: Self { came(.unitKilled) }
    static var unitFailed: Self { came(.unitFailed) }
    static var unitIntruding: Self { came(.unitIntruding) }
    static var unitLost: Self { came(.unitLost) }
    static var unitLeftProcesses: Self { came(.unitLeftProcesses) }
    static var unitUnattached: Self { came(.unitUnattached) }
    static var unitUntied: Self { came(.unitUntied) }
    static var startWaits: Self { came(.unitStartWaits) }
    static var unitsOrphaned: Self { came(.unitsOrphaned) }
    static var configurationRefused: Self { came(.configurationRefused) }
}
