import Decision
import Files
import HTTP
import JSON
import Requests
import SourceSettings

/// A cluster as its source knows it: how its members are reached, with the credentials and the token of the last login,
/// and what is wrong with them. A member is a position among the endpoints.
final class Cluster {
    let settings: EtcdSettings
    let context: SourceDependencies
    /// The member that answered last; at first a random one, so that hosts spread.
    private(set) var answering: Int
    /// The token of the last login, which every member accepts.
    private(set) var token: String?
    /// Why members were passed over when they were asked last.
    private var problems: [Int: String] = [:]
    private var warnings: [String] = []

    /// A cluster without a login yet.
    init(_ settings: EtcdSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        answering = Int.random(in: settings.endpoints.indices)
    }

    /// The keys of the flags. With signers it is one alone: the keys beside it, such as those of hosts, are not read.
    var keys: GatewayKeys {
        context.documents == nil ? .prefix(settings.prefix) : .one(settings.prefix)
    }

    /// All members, from this one on.
    func members(from first: Int) -> ArraySlice<Int> {
        let count = settings.endpoints.count
        return ArraySlice((0..<count).map { (first + $0) % count })
    }

    /// The request of a question to a member.
    func request(
        _ question: GatewayRequest, to member: Int
    ) throws(CredentialError) -> HTTPRequest {
        try settings.request(question, to: member, with: token, in: context.environment)
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
        token = try answer.gatewayToken()
    }

    /// A member has given the keys, or was passed over while others may give them.
    func record(problem: String?, of member: Int) {
        if problem == nil { answering = member }
        problems[member] = problem
        updateWarnings()
    }

    private func updateWarnings() {
        let warnings = problems.sorted { $0.key < $1.key }.map { member, problem in
            "'\(settings.endpoints[member])' \(problem)"
        }
        guard warnings != self.warnings else { return }
        self.warnings = warnings
        context.deliver(.warningsChanged(context.name, warnings))
    }
}
