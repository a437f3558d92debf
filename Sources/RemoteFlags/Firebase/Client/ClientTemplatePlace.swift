/// Whose client template is asked for, and how.
package struct ClientTemplatePlace: Hashable, Sendable {
    package var project: String
    package var apiKey: String
    package var appID: String
    /// URLs here and below are without a slash at their end.
    package var baseURL: String
    /// Where the stream of invalidations is; nil where it is not followed.
    package var realtimeURL: String?
    /// Where the installation is registered; nil where no token is asked for.
    package var installationsURL: String?
    package var interval: Duration
    package var timeout: Duration
    package var maxBody: Int

    package init(
        project: String, apiKey: String, appID: String, baseURL: String, realtimeURL: String?,
        installationsURL: String?, interval: Duration, timeout: Duration, maxBody: Int
    ) {
        self.project = project
        self.apiKey = apiKey
        self.appID = appID
        self.baseURL = baseURL
        self.realtimeURL = realtimeURL
        self.installationsURL = installationsURL
        self.interval = interval
        self.timeout = timeout
        self.maxBody = maxBody
    }

    var fetchURL: String { "\(baseURL)/v1/projects/\(project)/namespaces/firebase:fetch" }

    /// What the service chooses the flags by. The API key lets in whoever has it, and chooses nothing.
    var binding: String { "\(fetchURL) \(appID)" }
}
