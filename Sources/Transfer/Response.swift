/// An answer of a server, whole.
package struct Response: Hashable, Sendable {
    package var headers: HeaderSection
    /// Decoded. Empty unless the status is 2xx: what else a server has to say is not kept.
    package var body: [UInt8]

    package var status: Int { headers.status }
}
