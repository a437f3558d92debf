import CivilTime
import Decision
import Support
import Testing

/// The usual beginnings of transcripts, which only the tests of the start are about.
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

    /// The transcript, started, of one service `shop` without stored flags. Its wait for the sources is
    /// checked here and is not in the text.
    func waiting(sourceLocation: SourceLocation = #_sourceLocation) -> Transcript {
        var play = started()
        let sources = machine.plan.services.flatMap(\.switches).map(\.source)
        #expect(
            play.text == #"""
                0s started
                    remember and publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    log notice: shop: undecided: waiting for the first answer since the start

                """# + sources.map { "    fetch \($0)\n" }.joined(),
            sourceLocation: sourceLocation)
        play.forget()
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

    /// The order of a drill, which closes the gate.
    static func drill() throws -> Override {
        let since = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        return try #require(
            Override(
                state: .maintenance, cause: "drill", author: "root", since: since,
                until: since + .seconds(3600), isDrill: true))
    }
}
