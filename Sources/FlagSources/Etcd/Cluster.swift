import Decision
import Files
import HTTP
import JSON
import SourceSettings

/// A cluster as its source knows it: how its members are reached, with the credentials and the token of the last
/// login, and which of them answer.
///
/// A member is a position among the endpoints.
final class Cluster {
    let settings: EtcdSettings
    let context: SourceDependencies
    private(set) var members: MemberRanking
    /// The token of the last login, which every member accepts.
    private var token: String?
    private var warnings: [String] = []

    /// A cluster without a login yet. The first member is chosen at random, so that hosts spread.
    init(_ settings: EtcdSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        members = MemberRanking(
            of: settings.endpoints.count, preferred: Int.random(in: settings.endpoints.indices))
    }

    /// The request of a question to a member.
    func request(
        _ question: GatewayRequest, to member: Int
    ) throws(CredentialError) -> HTTPRequest {
        var request = try settings.server.request(in: context.environment)
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

    /// Keeps the token in the answer to a login.
    func storeToken(from answer: JSON.Object) throws(GatewayError) {
        guard let token = answer["token"]?.string, token.isVisibleASCII, token.utf8.count <= 8192
        else { throw .invalid("the answer holds no token") }
        self.token = token
    }

    /// A member has answered or told something, and those that hung had not, though they were asked.
    func memberAnswered(_ member: Int, hung: Set<Int> = []) {
        members.memberAnswered(member)
        membersHung(hung)
    }

    /// Records members that do not answer, and tells which do not, as far as it is known.
    func membersHung(_ hung: Set<Int>) {
        members.membersHung(hung, at: context.now.boot)
        let warnings = members.hanging.map {
            "'\(settings.endpoints[$0])' does not answer; it is tried last"
        }
        guard warnings != self.warnings else { return }
        self.warnings = warnings
        context.deliver(.warningsChanged(context.name, warnings))
    }
}
