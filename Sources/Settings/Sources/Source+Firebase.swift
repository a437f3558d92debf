package import Files
package import JSON

extension Source {
    /// The client template of a Firebase project, evaluated by the service.
    package struct Firebase: Hashable, Sendable {
        package var project: String
        package var apiKey: String
        package var appID: String
        /// URLs of services here and below are without a slash at their end.
        package var baseURL: String
        /// Where the stream of invalidations is; nil where it is not followed.
        package var realtimeURL: String?
        /// Where the installation is registered; nil where no token is asked for.
        package var installationsURL: String?

        package init(
            project: String, apiKey: String, appID: String, baseURL: String, realtimeURL: String?,
            installationsURL: String?
        ) {
            self.project = project
            self.apiKey = apiKey
            self.appID = appID
            self.baseURL = baseURL
            self.realtimeURL = realtimeURL
            self.installationsURL = installationsURL
        }
    }

    /// The server template of a Firebase project, evaluated on this host.
    package struct FirebaseServer: Hashable, Sendable {
        package var project: String
        /// The key of a service account; nil is the machine's own, by its metadata server.
        package var credentials: Credential?
        package var baseURL: String
        /// What access tokens are asked for.
        package var scope: String
        /// By what percent conditions choose; nil is one that is made of the machine id.
        package var randomizationID: String?
        package var signals: [Signal]

        package init(
            project: String, credentials: Credential?, baseURL: String, scope: String,
            randomizationID: String?, signals: [Signal]
        ) {
            self.project = project
            self.credentials = credentials
            self.baseURL = baseURL
            self.scope = scope
            self.randomizationID = randomizationID
            self.signals = signals
        }
    }

    /// What a host says of itself to the conditions of a template.
    package struct Signal: Hashable, Sendable {
        package var name: String
        /// A string or a number.
        package var value: JSON.Value

        package init(name: String, value: JSON.Value) {
            self.name = name
            self.value = value
        }
    }
}
