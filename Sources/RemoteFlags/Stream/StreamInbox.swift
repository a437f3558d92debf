import Transfer

/// Takes in what comes of one connection, from within libcurl: parses it, and keeps what it says until
/// somebody looks.
final class StreamInbox<Parser: StreamParser>: Receiver {
    private var parser: Parser
    private var hasBegun = false
    private var news: StreamNews?
    private let wake: () -> Void

    /// `wake` is called whenever there is something to look at, and must not do more than note that.
    init(_ parser: Parser, wake: @escaping () -> Void) {
        self.parser = parser
        self.wake = wake
    }

    func begin(_ headers: HeaderSection) -> Bool {
        hasBegun = true
        var news = StreamNews()
        parser.begin(headers, &news)
        self.news = news
        wake()
        return true
    }

    /// Takes no more once the stream is of no use, or floods.
    func take(_ bytes: [UInt8]) -> Bool {
        var news = self.news ?? StreamNews()
        guard news.failure == nil, news.bytes <= StreamMachine.floodLimit else { return false }
        news.bytes += bytes.count
        parser.take(bytes, &news)
        self.news = news
        wake()
        return true
    }

    /// The server has ended the stream.
    func finish() {
        var news = self.news ?? StreamNews()
        parser.finish(&news)
        self.news = news
    }

    /// What has come since it was last looked at.
    func takeEvents() -> [StreamMachine.Event] {
        defer {
            hasBegun = false
            news = nil
        }
        return (hasBegun ? [.opened] : []) + (news.map { [.heard($0)] } ?? [])
    }
}
