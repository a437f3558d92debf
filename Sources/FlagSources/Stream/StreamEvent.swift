package import CivilTime
package import Decision

/// An event of a stream.
package enum StreamEvent: Hashable, Sendable {
    /// Follow the stream. An open stream is reopened at once, since its request has changed; a wait
    /// for the next connection goes on.
    case started
    /// The server has answered 200.
    case opened
    case received(StreamUpdate)
    /// The server has ended the stream.
    case closed
    /// The server's answer is no stream, or no request could be sent.
    case failed(Failure)
    /// No answer came, or it broke off: the server may be away.
    case lost(Failure)
    case pollFailed
    case pollSucceeded
    /// In the answer to a poll, the server has asked for no request for this long.
    case retryLater(Duration)
    /// The time of `StreamEffect.sleep` has come.
    case woke

    /// Whether it is about a connection: after its end the event says nothing.
    package var isOfConnection: Bool {
        switch self {
        case .opened, .received, .closed, .failed, .lost: true
        case .started, .pollFailed, .pollSucceeded, .retryLater, .woke: false
        }
    }
}

/// An effect that a `StreamMachine` orders.
package enum StreamEffect: Hashable, Sendable {
    case connect
    /// Give up the connection; no event of it follows.
    case disconnect
    case hint
    /// Report why only polls show changes; nil when the stream is followed again.
    case setProblem(String?)
    /// Send `StreamEvent.woke` at that moment, which replaces the last such moment; nil cancels it.
    case sleep(Boottime?)
}

/// The times of a stream, which differ from one kind of source to another.
package struct StreamPolicy: Hashable, Sendable {
    /// How long a connection may take until the server answers.
    package var opening: Duration
    /// How long an open stream may be silent before it is given up. The server has to send something more
    /// often than that: a comment, a report of progress.
    package var silence: Duration
    /// The ceiling of the first wait after a stream has ended. It doubles with each failure.
    package var firstWait: Duration
    /// The highest ceiling.
    package var longestWait: Duration
    package var hints: HintRate

    /// The defaults are those of every source, unless its server is known to differ.
    package init(
        opening: Duration = .seconds(30), silence: Duration, firstWait: Duration = .seconds(1),
        longestWait: Duration = .seconds(300), hints: HintRate = .usual
    ) {
        self.opening = opening
        self.silence = silence
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.hints = hints
    }
}
