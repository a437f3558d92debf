import Decision
import Testing

/// The usual beginnings, which are no test's point but those of the start.
extension Transcript {
    /// The same, started, and source `app` has answered. Nothing of that is in the text.
    func answered(_ body: String, at seconds: Double = 0) throws -> Transcript {
        var play = self
        play.at(0, .started)
        try play.at(seconds, "app", answers: body)
        play.forget()
        return play
    }

    /// The same, started, of one service `shop` that nothing is known of: that it waits for its
    /// sources is checked here and is not in the text.
    func waiting(sourceLocation: SourceLocation = #_sourceLocation) -> Transcript {
        var play = self
        play.at(0, .started)
        let sources = machine.plan.services.flatMap(\.switches).map(\.source)
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    say notice: shop: undecided: no flags have come since the start, the first answer is waited for

                """# + sources.map { "    fetch \($0)\n" }.joined(),
            sourceLocation: sourceLocation)
        play.forget()
        return play
    }
}
