import Decision
import Files
import HTTP
import JSON
import SourceSettings

/// How the members of a cluster are reached: requests with the credentials, and with the token of the last
/// login.
final class ClusterAccess {
    let settings: EtcdSettings
    let context: SourceDependencies
    /// The token of the last login, which every member accepts.
    private var token: String?

    /// The access to a cluster without a login yet.
    init(_ settings: EtcdSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
    }

    /// The request of a question to a member, by its position among the endpoints.
    func request(
        _ question: GatewayRequest, to member: Int
    ) throws(CredentialError) -> HTTPRequest {
        let secrets = try Secrets(of: settings.server, context.environment)
        var request = settings.server.request(with: secrets, agent: context.environment.userAgent)
        request.url = settings.endpoints[member] + question.path
        request.body = question.object.bytes
        request.keptOfRefusal = 1024
        request.headers.append(Header("Content-Type", "application/json"))
        request.headers += question.headers
        if let token { request.headers.append(Header("Authorization", token)) }
        return request
    }

    /// The question of a login; nil without a user. No request has a token until it is answered.
    func logIn() throws(CredentialError) -> GatewayRequest? {
        guard let login = settings.login else { return nil }
        token = nil
        return .authenticate(
            user: login.user, password: try context.environment.password(login.password))
    }

    /// Takes the token from the answer to a login.
    func storeToken(from answer: JSON.Object) throws(GatewayError) {
        guard let token = answer["token"]?.string, token.isVisibleASCII, token.utf8.count <= 8192
        else { throw .invalid("the answer holds no token") }
        self.token = token
    }
}
