/// An answer of a server, whole.
package struct Response: Hashable, Sendable {
    package var headers: HeaderSection
    /// Decoded. Of what is no success (2xx) as much as the request wants kept: nothing by default.
    package var body: [UInt8]

    package var status: Int { headers.status }
}
