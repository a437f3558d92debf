import CivilTime

/// The effects of one event as they gather, and what is to be looked at before it is done.
struct GateBatch {
    var moves: [Move] = []
    var connects = false
    var lists = false
    var asks = false
    var reads: [UnitName] = []
    var notices: [GateNotice] = []
    /// What something happened to.
    var services: Set<ServiceName> = []
    var units: Set<UnitName> = []

    mutating func read(_ unit: UnitName?) {
        guard let unit, !reads.contains(unit) else { return }
        reads.append(unit)
    }

    /// The moves first: what switches off does not wait for questions.
    var effects: [GateEffect] {
        moves.map(GateEffect.move) + (connects ? [.connect] : []) + (lists ? [.list] : [])
            + (asks ? [.askSystemState] : []) + reads.map(GateEffect.read)
    }
}
