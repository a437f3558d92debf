import Decision
import Transfer

/// What a site is asked, by the credentials as they were once read. The request stays the same
/// object from poll to poll while its conditions do, so that nothing has to be set up again.
final class Inquiry {
    let secrets: Secrets
    /// What the answers to it are bound to.
    let binding: String
    /// The request without conditions.
    let plain: HTTPRequest
    private var last: (validators: Validators, request: PreparedRequest)?

    init(secrets: Secrets, binding: String, plain: HTTPRequest) {
        self.secrets = secrets
        self.binding = binding
        self.plain = plain
    }

    /// The request that is answered only by other flags than those of the validators.
    func request(unlessMatching validators: Validators) -> PreparedRequest {
        if let last, last.validators == validators { return last.request }
        var request = plain
        if let etag = validators.etag { request.headers.append(Header("If-None-Match", etag)) }
        if let date = validators.lastModified {
            request.headers.append(Header("If-Modified-Since", date))
        }
        let prepared = PreparedRequest(request)
        last = (validators, prepared)
        return prepared
    }
}
