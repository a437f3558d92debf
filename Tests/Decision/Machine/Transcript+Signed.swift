import CivilTime
import Decision
import Support

/// Flags without their last brace, as a signed document of this version from noon until `expires`; nil if the
/// flags say so themselves.
func signedOrder(
    _ flags: String, version: Int64, by authors: [String],
    expires: String? = "2027-03-02T00:00:00Z", signatures: String = ""
) throws -> Event {
    let end = expires.map { #","expires":"\#($0)""# } ?? ""
    let rest = #","version":\#(version)\#(end),"audience":"prod"}"#
    var answer = try answer(flags + rest, fetchedAt: try Instant(rfc3339: "2027-03-01T12:00:00Z"))
    answer.signed = SignedAnswer(
        try SignedMetadata(answer.flags, digest: answer.body), by: authors,
        signatures: Array(signatures.utf8))
    return .fetchEnded("app", .answer(answer), date: nil)
}

/// The beginnings of the documents that open and close a service.
enum Orders {
    static let open = #"{"state":"running""#
    static let closed = #"{"state":"maintenance""#
}

extension Policy {
    static let twoSignatures = Policy(minClosed: .zero, signaturesToClose: 2, signaturesToOpen: 2)
}

extension Plan {
    /// `shop` follows one signer, and `bank` two.
    static func shopAndBank(
        _ bank: Policy = .twoSignatures, activation: Activation = .immediate
    ) throws -> Plan {
        var other = try service("bank", format: .switchObject(.whole), policy: bank)
        other.activation = activation
        let shop = try service(
            "shop", format: .switchObject(.whole), policy: Policy(minClosed: .zero))
        var plan = Plan([shop, other])
        plan.sources[0].audience = "prod"
        return plan
    }
}

extension Transcript {
    static func signed(
        _ service: Service, place: HostPlace = .named("this-host"),
        start: String = "2027-03-01T12:00:00Z"
    ) throws -> Transcript {
        var plan = Plan([service])
        plan.sources[0].audience = "prod"
        return try Transcript(plan: plan, start: start, place: place).started()
    }

    /// Sends an answer, and then that its version is stored, if it has to be.
    @discardableResult mutating func accept(_ seconds: Double, _ event: Event) throws -> [Effect] {
        let effects = at(seconds, event)
        for case .storeVersion(let source, _) in effects {
            return effects + at(seconds, .writeEnded(.storeVersion(source), problem: nil))
        }
        return effects
    }

    @discardableResult
    mutating func accept(
        _ seconds: Double, _ flags: String, version: Int64, by authors: [String],
        expires: String? = "2027-03-02T00:00:00Z", signatures: String = ""
    ) throws -> [Effect] {
        let order = try signedOrder(
            flags, version: version, by: authors, expires: expires, signatures: signatures)
        return try accept(seconds, order)
    }

    /// The state of each service after an answer, whose version is stored if it has to be.
    mutating func states(at seconds: Double, accepting event: Event) throws -> [State] {
        try accept(seconds, event)
        return states
    }

    static func started(_ plan: Plan) throws -> Transcript { try Transcript(plan: plan).started() }

    /// The same host after a restart of the daemon at 12:10, before its source has answered.
    func restarted(
        _ plan: Plan, disproved: [[UInt8]: String] = [:], isReboot: Bool = false,
        isWaiting: Bool = false
    ) throws -> Transcript {
        var stored = Memory.StoredFlags(answers: machine.answers(of: "app"), confirmedAt: now.wall)
        stored.disproved = disproved
        var ledger = ledger
        if isReboot { for name in ledger.entries.keys { ledger.entries[name]?.bootID = "before" } }
        var next = try Transcript(
            plan: plan, memory: Memory(flags: ["app": stored], ledger: ledger),
            start: "2027-03-01T12:10:00Z"
        ).started()
        if !isWaiting { next.at(0, .startupWaitEnded) }
        return next
    }

    func reason(_ name: String) throws -> Reason.Slug? {
        machine.publishedVerdict(of: try named(name))?.verdict.reason.slug
    }

    func gate(_ name: String) throws -> Gate? {
        machine.publishedVerdict(of: try named(name))?.verdict.gate
    }
}
