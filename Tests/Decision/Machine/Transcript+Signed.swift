import CivilTime
import Decision
import Testing

/// Flags without their last brace, as a signed document of this version from noon until `expires`; nil if the
/// flags say so themselves.
func signedOrder(
    _ flags: String, version: Int64, by authors: [String],
    expires: String? = "2027-03-02T00:00:00Z", signatures: String = ""
) throws -> Event {
    let end = expires.map { #","expires":"\#($0)""# } ?? ""
    let rest = #","version":\#(version)\#(end),"audience":"prod"}"#
    var answer = try answer(
        flags + rest, fetchedAt: try Instant(rfc3339: "2027-03-01T12:00:00Z"))
    answer.signed = SignedAnswer(
        try SignedOrder(answer.flags, digest: answer.body), by: authors,
        signatures: Array(signatures.utf8))
    return .fetched(try named("app"), .answer(answer), date: nil)
}

extension Transcript {
    /// A service whose source has signers, at its start.
    static func signed(
        _ service: Service, place: HostPlace = .named("this-host")
    ) throws -> Transcript {
        var plan = Plan([service])
        plan.sources[0].audience = "prod"
        var play = try Transcript(plan: plan, place: place)
        play.at(0, .started)
        return play
    }

    /// Sends an answer, and then that its version is stored, if it has to be.
    @discardableResult
    mutating func take(_ seconds: Double, _ event: Event) throws -> [Effect] {
        let effects = at(seconds, event)
        for case .storeVersion(let source, _) in effects {
            return effects + at(seconds, .recorded(.storeVersion(source), problem: nil))
        }
        return effects
    }
}
