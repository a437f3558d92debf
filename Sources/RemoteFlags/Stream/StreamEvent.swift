package import CivilTime
package import Decision

/// What happens to a stream.
package enum StreamEvent: Hashable, Sendable {
    /// The stream is to be followed. A stream that is open is opened anew at once, since another request
    /// is sent; a wait for the next connection goes on.
    case started
    /// The server has answered 200.
    case opened
    /// Bytes have come.
    case heard(StreamNews)
    /// The server has ended the stream.
    case closed
    /// The server has answered something that is no stream, or could not be asked.
    case failed(Failure)
    /// No answer came, or it broke off: the server may be away.
    case lost(Failure)
    /// A poll of the same source has failed.
    case pollFailed
    /// A poll of the same source has succeeded.
    case pollSucceeded
    /// The server has answered a poll that it wants to be left alone for this long.
    case held(Duration)
    /// The time of `StreamEffect.sleep` has come.
    case woke
}

/// What a `StreamMachine` wants done.
package enum StreamEffect: Hashable, Sendable {
    case connect
    /// Give up the connection; no event of it follows.
    case disconnect
    /// Say that a fetch is worth while.
    case hint
    /// Say why changes are seen at the polls alone; nil when the stream is followed again.
    case tell(String?)
    /// Send `StreamEvent.woke` at that moment, and not at the one of before; nil is never.
    case sleep(Boottime?)
}

/// The times of a stream, which differ from one kind of source to another.
package struct StreamPolicy: Hashable, Sendable {
    /// How long a connection may take until the server answers.
    package var opening: Duration
    /// How long an open stream may be silent before it is given up. The server has to send something more
    /// often than that: a comment, a report of progress.
    package var silence: Duration
    /// The ceiling of the first wait after a stream has ended. It doubles from one failure to the
    /// next.
    package var firstWait: Duration
    /// The highest ceiling.
    package var longestWait: Duration
    /// How long a stream must stay open to reset the back-off.
    package var steady: Duration

    /// The defaults are those of every source, unless its server is known to differ.
    package init(
        opening: Duration = .seconds(30), silence: Duration, firstWait: Duration = .seconds(1),
        longestWait: Duration = .seconds(300), steady: Duration = .seconds(10)
    ) {
        self.opening = opening
        self.silence = silence
        self.firstWait = firstWait
        self.longestWait = longestWait
        self.steady = steady
    }
}
