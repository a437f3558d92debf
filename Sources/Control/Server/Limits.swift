/// What clients may cost the daemon, all together.
package struct Limits: Sendable {
    /// Connections at one time. A process has 1,024 descriptors unless it asks for more, and the
    /// sources need some.
    package var connections = 640
    /// Connections at one time of those who may only read: the rest is kept for who acts.
    package var readers = 512
    /// Bytes that clients have not taken yet. Where a reply would go beyond, its connection ends.
    package var unsent = 16 << 20

    package init() {}
}
