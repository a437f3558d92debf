import CivilTime
import Configuration
import Decision
import Files
import FlagSignatures
import Glibc
import JSON
import POSIX
import Pages
import Signing
import SourceSettings
import Storage

/// What is planned: services with the flags of their sources.
struct PlanSubject {
    /// The services that are asked about; all that read one of the documents.
    let services: [Service]
    let plan: Plan
    /// The configuration; nil with a format.
    let settings: Settings?
    let published: PublishedFiles?
    /// The flags of each source: of its document, else of this host.
    private(set) var answers: [SourceName: Answer] = [:]
    /// The flags that this host has of the sources of documents, as far as the user may read them.
    private(set) var before: [SourceName: Answer] = [:]
    /// The members of the documents that nobody reads.
    private(set) var unknown: [UnknownMember] = []
    /// What of this host is not known, a line each.
    private(set) var gaps: [String] = []

    var pages: [ServiceName: Page] { settings?.pages ?? [:] }
    var limits: GuardLimits { settings?.guardLimits ?? GuardLimits() }

    /// Reads the configuration and the documents that the options of the command name.
    init(_ command: PlanCommand, at start: Instant) throws {
        if let format = command.reading.chosen {
            plan = try Self.bare(format, command.reading)
            (services, settings, published) = (plan.services, nil, nil)
        } else {
            let places = try command.configured.config.map(ConfigurationPlaces.beside) ?? .standard
            let settings = try Self.settings(in: places, isNamed: command.configured.config != nil)
            self.settings = settings
            plan = settings.plan
            published = try PublishedFiles(command.common)
            services = try Self.chosen(command, of: plan)
        }
        let used = Set(services.flatMap { $0.switches.map(\.source) })
        let signers = signers()
        for text in command.documents {
            let (source, file) = try Self.document(text, among: used)
            let answer = try FlagFile(file).answer(
                by: signers[source], alone: alone(source), fetchedAt: start)
            answers[source] = answer
            before[source] = readable { try stored(source, command.configured) }
            unknown += plan.unknownMembers(in: answer.flags, of: source).map {
                UnknownMember(place: $0, source: used.count == 1 ? nil : source)
            }
        }
        for source in used.sorted() where answers[source] == nil {
            do {
                answers[source] = try present(source, command.configured, signers[source], start)
            } catch {
                gaps.append(
                    "source '\(source)': the flags of this host are not known (\(CommandFailure(error).message)): "
                        + "as if it never answered")
            }
        }
    }

    /// The steps of the order that a service reads, and its source; nil without steps.
    func rollout(of service: Service) -> (Rollout, SourceName)? {
        for plan in service.switches {
            guard let flags = answers[plan.source]?.flags else { continue }
            let reading = readable { try plan.format.read(flags, in: service.zone) }
            if let rollout = reading?.rollout { return (rollout, plan.source) }
        }
        return nil
    }

    private static func settings(in places: ConfigurationPlaces, isNamed: Bool) throws -> Settings {
        do {
            return try LoadedConfiguration(reading: places).settings
        } catch {
            let isThere = readable { try File.exists(places.main) } ?? true
            let hint =
                isThere || isNamed
                ? "" : "; give --config FILE, or --format FORMAT for a document alone"
            throw CommandFailure(.configuration, "\(error)\(hint)")
        }
    }

    /// A service without a configuration: one switch, and the default of each setting.
    private static func bare(_ format: Format, _ options: FormatOptions) throws -> Plan {
        guard let name = ServiceName("document"), let source = SourceName("flags") else {
            Invariant.broken("'document' and 'flags' are valid names")
        }
        var service = Service(
            name: name, zone: try zone(options.timeZone),
            switches: [Switch(source: source, format: format)])
        if let text = options.installedVersion {
            guard let version = Version(text) else {
                throw CommandFailure(.usage, "--installed-version is empty")
            }
            service.installed = .version(version)
        }
        return Plan(
            sources: [SourcePlan(name: source, interval: .seconds(60))], services: [service])
    }

    /// The zone of this name; nil is the system's.
    private static func zone(_ name: String?) throws -> Zone {
        guard let name else { return ZoneFiles.local }
        do {
            return try ZoneFiles.content(named: name).zone
        } catch {
            let package = ZoneFiles.missingPackage(for: name)
            throw CommandFailure(
                .usage,
                "--time-zone '\(name.printable(limit: 100))': \(error)"
                    + (package.map { "; install the package \($0)" } ?? ""))
        }
    }

    /// The named services, or those that read a source that a document is given for; all without one.
    private static func chosen(_ command: PlanCommand, of plan: Plan) throws -> [Service] {
        let known = plan.services.map(\.name)
        for name in command.configured.services where !known.contains(name) {
            throw CommandFailure(
                .noSuchService,
                noSuch("service", name.text, known.map(\.text), orNone: "is configured"))
        }
        let named = Set(command.configured.services)
        if !named.isEmpty { return plan.services.filter { named.contains($0.name) } }
        let given = Set(command.documents.compactMap { sourceName(of: $0, in: plan) })
        return given.isEmpty
            ? plan.services
            : plan.services.filter { service in
                service.switches.contains { given.contains($0.source) }
            }
    }

    private static func sourceName(of document: String, in plan: Plan) -> SourceName? {
        let name = document.split(separator: "=", maxSplits: 1).first.flatMap {
            SourceName(String($0))
        }
        return plan.knownSources.first { $0.name == name }?.name
    }

    /// The source of a document, and its file: `SOURCE=FILE`, or `FILE` where one source is read.
    private static func document(
        _ text: String, among used: Set<SourceName>
    ) throws -> (SourceName, String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        if parts.count == 2, let source = used.first(where: { $0.text == parts[0] }) {
            return (source, parts[1])
        }
        guard used.count == 1, let source = used.first else {
            let names = used.sorted().map { "\($0)=FILE" }.joined(separator: ", ")
            throw CommandFailure(
                .usage,
                "several sources are read here: name the one that brings '\(text.printable(limit: 100))': \(names)"
            )
        }
        return (source, text)
    }

    private func signers() -> [SourceName: SignerFile] {
        let zone = ZoneFiles.local
        return (settings?.sources ?? []).reduce(into: [:]) { signers, source in
            signers[source.name] = source.signing.map {
                SignerFile(path: $0.signers, zone: { zone }, user: nil)
            }
        }
    }

    /// Which bodies that are no object count for a source whose whole answer is read.
    private func alone(_ name: SourceName) -> FlagDocument.Alone {
        let plan = plan.knownSources.first { $0.name == name }
        guard plan?.known.contains(ExactString(FlagDocument.wholeKey)) == true else {
            return .nothing
        }
        guard let source = settings?.sources.first(where: { $0.name == name }) else { return .word }
        return source.alone
    }

    /// The flags of this host: of its file, else as the daemon has stored them.
    private func present(
        _ name: SourceName, _ options: ConfiguredOptions, _ signers: SignerFile?, _ start: Instant
    ) throws -> Answer {
        if case .file(let path, _) = settings?.sources.first(where: { $0.name == name })?.kind {
            return try FlagFile(path).answer(by: signers, alone: alone(name), fetchedAt: start)
        }
        return try stored(name, options)
    }

    /// The newest flags of a source that the daemon has stored.
    private func stored(_ name: SourceName, _ options: ConfiguredOptions) throws -> Answer {
        guard let published else { throw CommandFailure("there is no daemon") }
        let store = StateDirectory(
            path: try published.stateDirectory(options.stateDirectory), isForeign: true)
        let mark = "\(published.directory)/\(FileName.source(name))"
        guard
            let answer = try store.flags(of: name, mark: mark, isBound: { _ in true }).get()?
                .answers.first
        else { throw CommandFailure("none are stored") }
        return answer
    }
}

/// Flags in a file that an operator names, as a source would bring them.
struct FlagFile {
    private let name: String
    private let body: [UInt8]

    /// Reads the file; `-` is standard input.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : "'\(path.printable(limit: 100))'"
        body = path == "-" ? try Self.standardInput() : try File.read(path, limit: Self.largest)
    }

    /// The flags as an answer. Throws where no host would take them. Without `signers` no signature is checked.
    func answer(
        by signers: SignerFile?, alone: FlagDocument.Alone = .nothing, fetchedAt: Instant
    ) throws -> Answer {
        do {
            if let signers {
                return try SignedFlags.answer(in: body, by: try signers.read(), at: fetchedAt)
            }
            let content = SignedDocument.content(of: body)
            if content.count < body.count {
                printError("the signatures are not checked: a configuration names the signers")
            }
            return try Answer(body: content, alone: alone, fetchedAt: fetchedAt)
        } catch {
            let failure = (error as? DocumentRefusal).map { Failure($0) } ?? error as? Failure
            guard let failure else { throw error }
            throw CommandFailure("the flags in \(name) are invalid: \(failure.detail)")
        }
    }

    private static func standardInput() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= largest {
            let count = unsafe Glibc.read(STDIN_FILENO, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += piece[..<count]
            } else if errno != EINTR {
                throw CommandFailure("read standard input: \(SystemError.text(of: errno))")
            }
        }
        throw CommandFailure("read standard input: over the limit of \(largest) bytes")
    }

    private static let largest = FetchLimits.largestMaxBody
}

extension Source {
    /// Which bodies that are no object it takes for flags.
    fileprivate var alone: FlagDocument.Alone {
        switch kind {
        case .file, .etcd: .word
        case .http: .value
        case .ofrep, .firebase, .firebaseServer: .nothing
        }
    }
}
