/// The effects of one event as they gather, and the order in which they are performed.
struct Batch {
    var stores: [Effect] = []
    var isLedgerChanged = false
    var publications: [Effect] = []
    var confirmations: [Effect] = []
    var notices: [Notice] = []
    var fetches: [Effect] = []

    /// Flags first, for they are on disk before they are acted on; then the ledger, so that no
    /// published generation is ever taken back; then what others see.
    func effects(ledger: Ledger) -> [Effect] {
        stores + (isLedgerChanged ? [.remember(ledger)] : []) + publications + confirmations
            + notices.filter { !isSaidByVerdict($0) }.map(Effect.announce) + fetches
    }

    /// Whether a new verdict gives this trouble as its reason: one event is one line.
    private func isSaidByVerdict(_ notice: Notice) -> Bool {
        notices.contains { said in
            guard case .decided(let service, let verdict, _) = said else { return false }
            switch notice {
            case .answerInvalid(service, let source, let problem):
                return verdict.reason == .invalidAnswer(source, problem)
            case .endUnreadable(service, let source, let text):
                return verdict.reason == .endUnreadable(source, text)
            case .answerInvalid, .endUnreadable, .decided, .sourceFailed, .sourceRecovered,
                .recordFailed, .recordsRecovered:
                return false
            }
        }
    }
}
