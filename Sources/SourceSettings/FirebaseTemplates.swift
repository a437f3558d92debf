package import Files
package import JSON

/// The client template of a Firebase project, evaluated by the service, and how to ask for it.
package struct FirebaseSettings: Hashable, Sendable {
    package var project: String
    package var apiKey: String
    package var appID: String
    /// URLs of services here and below have no slash at the end.
    package var baseURL: String
    /// The URL of the stream of invalidations; nil if the stream is not followed.
    package var realtimeURL: String?
    /// The URL where the installation is registered; nil if no token is asked for.
    package var installationsURL: String?
    package var limits: FetchLimits

    /// All settings of kind `firebase`.
    package init(
        project: String, apiKey: String, appID: String, baseURL: String, realtimeURL: String?,
        installationsURL: String?, limits: FetchLimits
    ) {
        self.project = project
        self.apiKey = apiKey
        self.appID = appID
        self.baseURL = baseURL
        self.realtimeURL = realtimeURL
        self.installationsURL = installationsURL
        self.limits = limits
    }
}

/// The server template of a Firebase project, evaluated on this host, and how to ask for it.
package struct FirebaseServerSettings: Hashable, Sendable {
    package var project: String
    /// The key of a service account; nil is the machine's own account, by its metadata server.
    package var credential: Credential?
    /// `https://…`, without a slash at the end.
    package var baseURL: String
    /// The OAuth scope of access tokens.
    package var scope: String
    /// The id by which percent conditions choose this host; nil is an id made of the machine id.
    package var randomizationID: String?
    /// The custom signals of this host, for the conditions of a template: strings and numbers.
    package var signals: JSON.Object
    package var limits: FetchLimits

    /// All settings of kind `firebase-server`.
    package init(
        project: String, credential: Credential?, baseURL: String, scope: String,
        randomizationID: String?, signals: JSON.Object, limits: FetchLimits
    ) {
        self.project = project
        self.credential = credential
        self.baseURL = baseURL
        self.scope = scope
        self.randomizationID = randomizationID
        self.signals = signals
        self.limits = limits
    }
}
