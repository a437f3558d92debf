package import Files
package import JSON

extension Source {
    /// A server that evaluates flags for a context, by the OpenFeature Remote Evaluation Protocol.
    package struct Evaluation: Hashable, Sendable {
        /// What stands before `/ofrep` in the server's addresses, without a slash at the end.
        package var url: String
        /// What the administrator adds to the context, or puts in the place of a part of it.
        package var context: JSON.Object
        package var bearer: Credential?
        package var apiKey: Credential?
        package var ca: Credential?
        package var clientCertificate: Credential?
        package var clientKey: Credential?
    }
}
