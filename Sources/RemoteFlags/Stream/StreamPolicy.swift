/// How a stream is kept up: what differs from one kind of source to another.
package struct StreamPolicy: Hashable, Sendable {
    /// How long a connection may take until the server answers.
    package var opening: Duration
    /// How long nothing may come of an open stream until it counts as dead. The server has to send
    /// something more often than that: a comment, a report of progress.
    package var silence: Duration
    /// The ceiling of the first wait after a stream has ended. It doubles from one failure to the
    /// next.
    package var firstWait: Duration
    /// The highest ceiling.
    package var longestWait: Duration
    /// How long a stream has to last until it counts as well: the waits begin anew.
    package var steady: Duration

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
