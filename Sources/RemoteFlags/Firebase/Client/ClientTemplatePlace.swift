import SourceKinds

extension ClientTemplatePlace {
    /// Where the flags are fetched.
    var fetchURL: String { "\(baseURL)/v1/projects/\(project)/namespaces/firebase:fetch" }

    /// What the service chooses the flags by. The API key lets in whoever has it, and chooses nothing.
    var binding: String { "\(fetchURL) \(appID)" }
}
