import CivilTime
import Configuration
import Decision
import FlagSignatures
import JSON

@testable import Signing

extension Fuzz {
    private static let now = Instant(seconds: 1_800_000_000)

    /// A document with signatures; without its armour, one signature of the document of the seeds.
    static func signatures(_ bytes: [UInt8]) -> Bool {
        let isDocument = SignedDocument.content(of: bytes) != bytes
        let bytes = isDocument ? bytes : SignedSeed.document + SignedSeed.armour(bytes)
        guard let document = accepted({ try SignedDocument(bytes) }) else { return false }
        hold(bytes.starts(with: document.content), "the content is the beginning")
        hold(document.content.count < bytes.count, "a signature follows")
        hold(
            (1...SignedDocument.maximumSignatures).contains(document.keyCount),
            "there are 1 to 16 signatures")
        hold(SignedDocument.content(of: bytes) == document.content, "the content is one")
        _ = accepted { try document.checkOwnKeys() }
        guard let signers = SignedSeed.signers,
            let answer = accepted({ try SignedFlags.answer(in: bytes, by: signers, at: now) })
        else { return false }
        hold(answer.body == SignedSeed.document, "nobody has signed another document")
        let disproofs = SignedFlags.disproofs(of: [answer], by: signers)
        hold(answer.signed != nil && disproofs.isEmpty, "what counts can be shown again")
        return true
    }

    static func allowedSigners(_ bytes: [UInt8]) -> Bool {
        guard let signers = accepted({ try AllowedSigners(bytes, zone: .utc) }) else {
            return false
        }
        let twice = accepted { try AllowedSigners(bytes + [0x0A] + bytes, zone: .utc) }
        hold(twice != nil, "the list can stand there twice")
        hold(signers == accepted { try AllowedSigners(bytes, zone: .utc) }, "the list is one")
        return true
    }

    /// What is written is read as the same.
    static func json(_ bytes: [UInt8]) -> Bool {
        guard let value = accepted({ try JSON.Value.parse(bytes) }) else { return false }
        for style in [JSON.Style.compact, .pretty, .outline] {
            let again = accepted { try JSON.Value.parse(value.serializedBytes(style)) }
            hold(again == value, "the value is the same after \(style)")
        }
        return true
    }

    /// A whole decision by these flags, over three days.
    static func flags(_ bytes: [UInt8], _ format: Format) -> Bool {
        guard let name = ServiceName("shop"), let source = SourceName("app"),
            let answer = accepted({ try Answer(body: bytes, alone: .word, fetchedAt: now) })
        else { return false }
        let flags = answer.flags
        let isObject = accepted { try FlagDocument.parse(bytes) } != nil
        hold(isObject == answer.unreadable.isEmpty, "beside a value alone nothing is missing")
        hold(isObject || flags.count == 1, "a value alone is one flag")
        let places = Plan(
            sources: [SourcePlan(name: source, interval: .seconds(60))],
            services: [
                Service(name: name, zone: .utc, switches: [Switch(source: source, format: format)])
            ]
        ).unknownMembers(in: flags, of: source)
        hold(isObject || places.isEmpty, "a value alone has no members")
        if let order = accepted({ try SignedMetadata(flags, digest: []) }) {
            hold(order.issued.map { $0 <= order.expires } ?? true, "it is issued before it expires")
        }
        let service = Service(
            name: name, zone: .utc, switches: [Switch(source: source, format: format)])
        var simulation = Simulation(
            service, sources: [SourcePlan(name: source, interval: .seconds(60))],
            answers: [source: answer], installed: Version("1.0"), at: now)
        let reading = accepted { try format.read(flags, in: .utc) }
        let isRead = reading != nil
        if let reading {
            // A state, an end and a version beside the windows.
            hold(reading.claims.count <= FlagLimit.windows.count + 3, "windows have a limit")
            hold(reading.rollout?.steps.count ?? 0 <= FlagLimit.steps.count, "steps have a limit")
            let (title, message) = (reading.texts.title ?? "", reading.texts.message ?? "")
            hold(title.unicodeScalars.count <= FlagLimit.title.count, "a title has a limit")
            hold(message.unicodeScalars.count <= FlagLimit.message.count, "a message has a limit")
        }
        let records = simulation.records(until: now + .seconds(86_400 * 3))
        hold(!records.isEmpty, "there is a verdict")
        for verdict in records.map(\.verdict) {
            hold(service.policy.gate(of: verdict.state) == verdict.gate, "the gate is the state's")
            hold(verdict.daysLeft ?? 0 >= 0, "no negative days")
            // An error is never an order.
            hold(isRead || verdict.gate != .closed, "a bad answer closes nothing")
            hold(!verdict.reason.sentence.isEmpty, "a reason has words")
        }
        return isRead
    }

    static func settings(_ bytes: [UInt8]) -> Bool {
        let zones = Zones(
            Zones.Files(
                system: { (.utc, []) }, named: { $0 == "Asia/Tokyo" ? (.utc, []) : nil },
                names: { ["Asia/Tokyo"] }))
        guard
            let settings = accepted({
                try Settings(files: [(path: "/etc/killswitchd.toml", bytes: bytes)], zones: zones)
            })
        else { return false }
        hold(!settings.services.isEmpty, "a configuration has a service")
        _ = settings.plan.keysRead
        for setting in settings.effective { hold(!"\(setting)".isEmpty, "a setting has words") }
        return true
    }
}

/// The document in `seeds/signatures`, and the people who have signed it.
private enum SignedSeed {
    static let document = Array(
        """
        {"service_end":"no","version":7,"expires":"2037-01-01T00:00:00Z","audience":"prod"}

        """.utf8)

    static let signers = Fuzz.accepted {
        try AllowedSigners(
            Array(
                """
                alice ssh-ed25519 \
                AAAAC3NzaC1lZDI1NTE5AAAAIH+iAoZPFt9lkWO5y/nDr5Pph4WA5Pd442HmF5pfPYjH
                carol ecdsa-sha2-nistp256 \
                AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBOSekTKJFNwMeH3XxUoLBiHmKR2AYTQ81knU81CiKm8\
                SuWhs0oVLY7MB8UjImyFJKMwbMVmoObjHfQT5P3J/If4=
                dave sk-ssh-ed25519@openssh.com \
                AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIJsJfTnUgwVuXQ4QyEWZXEQMzaF33LVkBRhBE4DECfsJAAAABHNzaDo=

                """.utf8), zone: .utc)
    }

    static func armour(_ bytes: [UInt8]) -> [UInt8] {
        Array(
            """
            -----BEGIN SSH SIGNATURE-----
            \(Base64.text(of: bytes))
            -----END SSH SIGNATURE-----

            """.utf8)
    }
}

extension Format {
    static let serviceEnd = Format.serviceEnd(
        endKeys: ["service_end", "is_service_end"], countdownKey: "service_countdown")
}
