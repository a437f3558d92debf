import CivilTime
import Decision
import Support
import Testing

/// The usual beginnings of transcripts.
extension Transcript {
    func started() -> Transcript {
        var play = self
        play.at(0, .started)
        return play
    }

    /// The transcript after the start and an answer of source `app`, neither of which is in the text.
    func answered(_ body: String, at seconds: Double = 0) throws -> Transcript {
        var play = started()
        try play.at(seconds, "app", answers: body)
        play.forget()
        return play
    }

    /// The transcript after an answer of source `app`, which is in the text.
    func receiving(_ body: String, at seconds: Double) throws -> Transcript {
        var play = self
        try play.at(seconds, "app", answers: body)
        return play
    }
}

enum ServiceEnd {
    static let no = #"{"service_end": "no"}"#
    static let over = #"{"service_end": "over"}"#
}

extension Memory {
    /// The memory of an earlier run with one answer of source `app` and one service `shop`.
    static func stored(
        _ body: String, fetchedAt: String = "2027-03-01T11:00:00Z", state: State,
        boot: String = "this-boot"
    ) throws -> Memory {
        let fetched = try Instant(rfc3339: fetchedAt)
        return Memory(
            flags: [
                "app": StoredFlags(
                    answers: [try answer(body, fetchedAt: fetched)], confirmedAt: fetched)
            ],
            ledger: Ledger(entries: [
                "shop": Ledger.Entry(state: state, since: fetched, generation: 7, bootID: boot)
            ]))
    }
}

extension Override {
    /// An operator's order from noon on, the start of every transcript.
    static func order(
        _ state: State, until: String = "2027-03-01T13:00:00Z", for cause: String = "disk swap",
        by author: String = "root"
    ) throws -> Override {
        try #require(
            Override(
                state: state, cause: cause, author: author,
                since: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
                until: try Instant(rfc3339: until)))
    }
}
