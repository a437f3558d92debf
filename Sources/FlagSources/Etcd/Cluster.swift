package import CivilTime
import Decision
import Files
import HTTP
import JSON
import Requests
import SourceSettings

/// A cluster as its source knows it: how its members are reached, with the credentials and the token of the
/// last login, and which of them answer.
final class Cluster {
    let settings: EtcdSettings
    let context: SourceDependencies
    private(set) var members: MemberRanking
    /// The token of the last login, which every member accepts.
    private(set) var token: String?
    /// Why acknowledgements are not taken; nil if they are, or are not put.
    var acknowledgementProblem: String? { didSet { updateWarnings() } }
    private var warnings: [String] = []

    /// A cluster without a login yet. The first member is chosen at random, so that hosts spread.
    init(_ settings: EtcdSettings, _ context: SourceDependencies) {
        self.settings = settings
        self.context = context
        members = MemberRanking(
            of: settings.endpoints.count, preferred: Int.random(in: settings.endpoints.indices))
    }

    /// The keys of the flags. With signers it is one alone: the keys beside it, such as acknowledgements, are not read.
    var keys: GatewayKeys {
        context.documents == nil ? .prefix(settings.prefix) : .one(settings.prefix)
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

    /// A member has answered or told something, and those that hung had not, though they were asked.
    func memberAnswered(_ member: Int, hung: Set<Int> = []) {
        members.memberAnswered(member)
        membersHung(hung)
    }

    /// Records members that do not answer, and tells which do not, as far as it is known.
    func membersHung(_ hung: Set<Int>) {
        members.membersHung(hung, at: context.now.boot)
        updateWarnings()
    }

    private func updateWarnings() {
        let hanging = members.hanging.map {
            "'\(settings.endpoints[$0])' does not answer; it is tried last"
        }
        let warnings = hanging + [acknowledgementProblem].compactMap(\.self)
        guard warnings != self.warnings else { return }
        self.warnings = warnings
        context.deliver(.warningsChanged(context.name, warnings))
    }
}

/// The order in which the members of a cluster are tried. A member that hangs is tried last for a while.
///
/// A member is a position among the endpoints. A dead member needs no memory: its connections fail at
/// once.
package struct MemberRanking: Hashable, Sendable {
    /// How long a member may be silent before another one is tried too.
    package static let hedgeDelay = Duration.seconds(1)
    /// How long a member that hangs is tried last.
    package static let avoidance = Duration.seconds(60)

    private let count: Int
    /// The member that answered last.
    private var preferred: Int
    /// The members that did not answer, and until when they are tried last.
    private var hung: [Int: Boottime] = [:]

    /// The order of so many members; `preferred` is tried first.
    package init(of count: Int, preferred: Int) {
        self.count = count
        self.preferred = preferred
    }

    /// The members that hang, as far as it is known.
    package var hanging: [Int] { hung.keys.sorted() }

    /// The order for a fetch that begins now. A hung member whose time is over comes first, to find out
    /// whether it is back, but not if the fetch is urgent.
    package func ranked(at now: Boottime, isUrgent: Bool) -> [Int] {
        let back = isUrgent ? nil : ring.first { hung[$0].map { $0 <= now } ?? false }
        let others = ring.filter { $0 != back }
        return (back.map { [$0] } ?? []) + others.filter { hung[$0] == nil }
            + others.filter { hung[$0] != nil }
    }

    /// The member for a watch after this many failures in a row: if possible neither the member of the other
    /// watch nor a member that hangs.
    package func memberToWatch(beside other: Int?, after failures: Int) -> Int {
        let free = ring.filter { $0 != other }
        let healthy = free.filter { hung[$0] == nil }
        let candidates = healthy.isEmpty ? (free.isEmpty ? ring : free) : healthy
        return candidates[failures % candidates.count]
    }

    /// A member answers: it is tried first from now on.
    package mutating func memberAnswered(_ member: Int) {
        preferred = member
        hung[member] = nil
    }

    /// Members do not answer although others do.
    package mutating func membersHung(_ members: Set<Int>, at now: Boottime) {
        for member in members { hung[member] = now + Self.avoidance }
    }

    private var ring: [Int] { (0..<count).map { (preferred + $0) % count } }
}
