package import Decision

/// What a stream has said, however much came. Nothing of it is an order: flags come by polls alone.
package struct StreamNews: Hashable, Sendable {
    /// The flags may have changed.
    package var isHint = false
    /// The next connection comes no sooner than this long after the end of this one.
    package var retryAfter: Duration?
    /// The stream is of no use any more, though its connection may stay open. A failure of the kind
    /// `.refused` slows down; any other backs off.
    package var failure: Failure?
    /// How many bytes came.
    package var bytes = 0

    package init() {}
}
