package import Files
import JSON
import Signing

/// Whose server template is followed, how it is asked for, and for whom it is evaluated.
package struct ServerTemplatePlace: Hashable, Sendable {
    package var project: String
    /// The key of a service account; nil is what the metadata server says.
    package var credential: Credential?
    /// `https://…`, without a slash at its end.
    package var baseURL: String
    package var scope: String
    package var timeout: Duration
    package var maxBody: Int
    package var context: Context

    package init(
        project: String, credential: Credential?, baseURL: String, scope: String,
        timeout: Duration, maxBody: Int, context: Context
    ) {
        self.project = project
        self.credential = credential
        self.baseURL = baseURL
        self.scope = scope
        self.timeout = timeout
        self.maxBody = maxBody
        self.context = context
    }

    var url: String {
        "\(baseURL)/v1/projects/\(project)/namespaces/firebase-server/serverRemoteConfig"
    }

    /// What the flags depend on: the template and the host that it was evaluated for. Whoever may read
    /// the template reads the same one, so that a new key of an account makes no other flags.
    ///
    /// The number is that of our evaluation. It grows when that changes its results, for a template
    /// that is unchanged is not evaluated again.
    var binding: String {
        let signals = context.signals.map { "\($0.key.text.utf8.count):\($0.key.text)=\($0.value)" }
        let host = ([context.randomizationID] + signals.sorted()).joined(separator: "\n")
        return "\(url) 1 \(SHA256.hexadecimal(of: Array(host.utf8)))"
    }
}
