import CivilTime
import Decision

extension Memory {
    /// The memory of an earlier run with one answer of source `app` and one service `shop`.
    static func stored(
        _ body: String, fetchedAt: String, state: State, boot: String
    ) throws -> Memory {
        let fetched = try Instant(rfc3339: fetchedAt)
        return Memory(
            flags: [
                try named("app"): StoredFlags(
                    answers: [try answer(body, fetchedAt: fetched)], confirmedAt: fetched)
            ],
            ledger: Ledger(entries: [
                try named("shop"): Ledger.Entry(
                    state: state, since: fetched, generation: 7, bootID: boot)
            ]))
    }
}
