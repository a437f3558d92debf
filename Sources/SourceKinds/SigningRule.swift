/// Who has to sign the documents of a source, and for whom.
package struct SigningRule: Hashable, Sendable {
    /// The path of the file of allowed signers.
    package var signers: String
    /// For whom the documents have to be, such as `prod`.
    package var audience: String

    /// Documents by these signers, for this audience.
    package init(signers: String, audience: String) {
        self.signers = signers
        self.audience = audience
    }
}
