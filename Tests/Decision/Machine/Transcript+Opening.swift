import Decision
import Testing

/// The usual beginnings of transcripts, which only the tests of the start are about.
extension Transcript {
    /// The transcript after the start and an answer of source `app`, neither of which is in the text.
    func answered(_ body: String, at seconds: Double = 0) throws -> Transcript {
        var play = self
        play.at(0, .started)
        try play.at(seconds, "app", answers: body)
        play.forget()
        return play
    }

    /// The transcript, started, of one service `shop` without stored flags. Its wait for the sources is
    /// checked here and is not in the text.
    func waiting(sourceLocation: SourceLocation = #_sourceLocation) -> Transcript {
        var play = self
        play.at(0, .started)
        let sources = machine.plan.services.flatMap(\.switches).map(\.source)
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    log notice: shop: undecided: waiting for the first answer since the start

                """# + sources.map { "    fetch \($0)\n" }.joined(),
            sourceLocation: sourceLocation)
        play.forget()
        return play
    }
}
