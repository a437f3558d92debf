import ArgumentParser
import CivilTime
import Configuration
import Decision
import JSON

/// The look for members of flags that nobody reads: most of them are misspelt.
struct MemberChecks: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A configuration that reads the flags: its keys are known. Without it those of switch.",
            valueName: "file"), completion: .file())
    var config: String?

    @Flag(help: "Fail if the flags have a member that nobody reads.") var strict = false

    /// Names each unknown member. Throws for them with `--strict`.
    func check(_ flags: JSON.Object) throws {
        let unknown = try unknown(in: flags)
        for member in unknown { printError(member.sentence) }
        if strict, !unknown.isEmpty { throw CommandFailure(.no) }
    }

    /// The members of a signed document that nobody reads. It does not say for which source it is, so that a member
    /// counts as known that some signed source has. Without a configuration a document in another format than
    /// `switch` has none, unless `--strict` says that it is one.
    func unknown(in flags: JSON.Object) throws -> [UnknownMember] {
        let plan = try plan(of: flags)
        let signed = plan.sources.filter { $0.audience != nil }.map(\.name)
        let found = signed.map { plan.unknownMembers(in: flags, of: $0) }
        let places = (found.first ?? []).filter { place in
            found.allSatisfy { $0.contains(place) }
        }
        return places.map { UnknownMember(place: $0) }
    }

    private func plan(of flags: JSON.Object) throws -> Plan {
        if let config {
            let plan = try orFail(.configuration) {
                try LoadedConfiguration(reading: try ConfigurationPlaces.beside(config)).settings
                    .plan
            }
            guard plan.sources.contains(where: { $0.audience != nil }) else {
                throw CommandFailure(
                    .configuration, "no source in '\(config)' has signers: it reads no signed flags"
                )
            }
            return plan
        }
        let isSwitch = strict || flags["state"] != nil
        guard isSwitch, let name = ServiceName("signed"), let source = SourceName("signed") else {
            return Plan(sources: [], services: [])
        }
        return Plan(
            sources: [SourcePlan(name: source, interval: .seconds(60), audience: "")],
            services: [
                Service(
                    name: name, zone: .utc,
                    switches: [
                        Switch(source: source, format: FormatWord.switchObject.format(key: nil))
                    ])
            ])
    }
}

/// A member of flags that no format, value or variant reads.
struct UnknownMember {
    /// Such as `shop.end_at`.
    let place: String
    /// The source whose flags have it, where there are several.
    var source: SourceName?

    var sentence: String {
        let place = quoted(place)
        return source.map { "source '\($0)': key \(place) is unknown and ignored" }
            ?? "key \(place) is unknown and ignored"
    }

    /// Whether a warning of the reading names it, perhaps with the key that was meant.
    func isNamed(in sentence: String) -> Bool {
        let last = place.split(separator: ".").last.map(String.init) ?? place
        let (clause, text) = ("key \(quoted(last)) is unknown and ignored".utf8, sentence.utf8)
        return text.indices.contains { text[$0...].starts(with: clause) }
    }
}
