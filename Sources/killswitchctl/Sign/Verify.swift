import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Files
import FlagSignatures
import JSON
import Signing
import SourceSettings
import Storage

/// `killswitchctl verify FILE --signers FILE --audience NAME`
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who signed flags, and whether a host would accept them.",
        discussion: """
            Checks signers and audience like a host that has accepted no document yet; with \
            --accepted N, like one that has accepted version N. Members that nobody reads are \
            named. Exit status: 0 accepted, 1 refused, or with --strict a member that nobody reads.

            example: killswitchctl verify shop.json --signers /etc/killswitchd/allowed_signers \
            --audience prod
            """)

    @Option(
        help: ArgumentHelp("The file of allowed signers, by ssh-keygen(1).", valueName: "file"),
        completion: .file())
    var signers: String

    @Option(help: ArgumentHelp("The audience of the host.", valueName: "name")) var audience: String

    @Option(help: ArgumentHelp("The highest version that the host knows.", valueName: "number"))
    var accepted: Int64?

    @Option(
        help: ArgumentHelp(
            "The time of the check, by RFC 3339; without it now.", valueName: "time"),
        transform: Instant.read)
    var at: Instant?

    @OptionGroup var checks: MemberChecks

    @Flag(help: "Print JSON.") var json = false

    @Argument(help: "The signed flags.", completion: .file()) var file: String

    func run() throws {
        let bytes = try File.read(file, limit: FetchLimits.largestMaxBody)
        let zone = ZoneFiles.local
        let list = SignerFile(path: try File.absolute(signers), zone: { zone }, user: nil)
        var report = VerificationReport(
            bytes, by: list, for: audience, after: accepted, at: at ?? EventLoop.wallClock)
        report.unknown = try checks.unknown(in: report.flags)
        if json { printJSON(report.json) } else { printLines(report.text) }
        if report.refusal != nil || checks.strict && !report.unknown.isEmpty {
            throw CommandFailure(.no)
        }
    }
}

/// What a host would make of a signed document.
struct VerificationReport {
    private var authors: [String] = []
    /// Why other signatures do not count.
    private var uncounted: [String] = []
    /// What it says of itself; nil if nobody whose signature counts has signed it.
    private var order: SignedMetadata?
    /// The members of the document; empty if it holds none that a host would read.
    private(set) var flags: JSON.Object = [:]
    /// The members that nobody reads.
    var unknown: [UnknownMember] = []
    /// Why a host would refuse it; nil if it would not.
    private(set) var refusal: (slug: String?, text: String)?

    init(
        _ bytes: [UInt8], by file: SignerFile, for audience: String, after accepted: Int64?,
        at now: Instant
    ) {
        do {
            let list = try file.read()
            let answer = try SignedFlags.answer(in: bytes, by: list, at: now)
            uncounted = try SignedDocument(bytes).authors(among: list, at: now).uncounted
                .map(\.description)
            flags = answer.flags
            guard let signed = answer.signed else { return }
            (authors, order) = (signed.authors, signed.order)
            let known = accepted.map { version in
                // Nobody knows here which content the host has seen.
                AcceptedVersion(number: version, digest: signed.order.digest)
            }
            _ = try signed.order.check(by: audience, after: known, at: now)
        } catch let error as DocumentRefusal {
            refusal = (error.slug.rawValue, error.description)
        } catch let error as Failure {
            refusal = (error.refusal?.slug.rawValue, error.detail)
        } catch {
            refusal = (nil, "\(error)")
        }
    }

    var text: String {
        var lines = LabelledLines()
        lines.add(
            "signed by", authors.isEmpty ? "no listed signer" : authors.joined(separator: ", "))
        for problem in uncounted { lines.add("not counted", problem) }
        if let order {
            lines.add("version", String(order.version))
            lines.add("audience", order.audiences.joined(separator: ", "))
            lines.add("expires", Zone.utc.rfc3339(order.expires))
            lines.add("issued", order.issued.map(Zone.utc.rfc3339))
        }
        for member in unknown { lines.add("unknown", member.sentence) }
        let problem = refusal.map { refusal in
            "a host refuses it\(refusal.slug.map { ", '\($0)'" } ?? ""): \(refusal.text)"
        }
        lines.add("result", problem ?? "a host accepts it")
        return lines.text
    }

    var json: JSON.Value {
        .object([
            "accepted": .bool(refusal == nil), "reason": .optional(refusal?.slug),
            "reason_text": .optional(refusal?.text), "author": .strings(authors),
            "not_counted": .strings(uncounted),
            "unknown": .strings(unknown.map(\.place)),
            "version": .optional(order?.version),
            "audience": order.map { .strings($0.audiences) } ?? .null,
            "expires": .optional(order.map { Zone.utc.rfc3339($0.expires) }),
            "issued": .optional(order?.issued.map(Zone.utc.rfc3339)),
        ])
    }
}
