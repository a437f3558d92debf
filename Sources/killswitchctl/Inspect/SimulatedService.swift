import CivilTime
import Configuration
import Decision
import Files
import FlagSignatures
import Glibc
import JSON
import POSIX
import Signing
import SourceSettings
import Storage

/// The service to simulate, and the answers of its sources.
struct SimulatedService {
    let service: Service
    let sources: [SourcePlan]
    /// The part of every order in which this host is.
    private(set) var slots = SlotRange.all
    /// The flags that were given for each source.
    private(set) var answers: [SourceName: Answer] = [:]
    /// The members of these flags that nobody reads.
    private(set) var unknown: [UnknownMember] = []
    /// Which bodies count that are no object, for each source whose whole answer is read.
    private var alone: [SourceName: FlagDocument.Alone] = [:]
    private let signers: [SourceName: SignerFile]
    /// The installed version; nil if it is unknown.
    let installed: Version?

    /// Reads the configuration and the files that the options of the command name.
    init(_ command: Simulate, at start: Instant) throws {
        let plan: Plan
        if let format = command.reading.chosen {
            plan = try Self.bare(format, command.reading)
            service = plan.services[0]
            sources = plan.knownSources
            signers = [:]
            for source in sources { alone[source.name] = .word }
        } else {
            let settings = try Self.settings(command.configured)
            plan = settings.plan
            (service, signers) = try Self.configured(command.configured, settings)
            sources = plan.sources(of: service)
            slots = plan.slots
            for source in settings.sources { alone[source.name] = source.alone }
        }
        installed = try Self.installed(service)
        answers = try answers(command.flags, fetchedAt: start)
        for source in sources {
            guard let flags = answers[source.name]?.flags else { continue }
            unknown += plan.unknownMembers(in: flags, of: source.name).map {
                UnknownMember(place: $0, source: sources.count == 1 ? nil : source.name)
            }
        }
    }

    /// A service without a configuration: one switch, and the default of each setting.
    private static func bare(
        _ format: Format, _ options: FormatOptions
    ) throws -> Plan {
        guard let name = ServiceName("simulated"), let source = SourceName("flags") else {
            Invariant.broken("'simulated' and 'flags' are valid names")
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
    static func zone(_ name: String?) throws -> Zone {
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

    private static func settings(_ options: ServiceOptions) throws -> Settings {
        try orFail(.configuration) {
            let places = try options.config.map(ConfigurationPlaces.beside) ?? .standard
            return try LoadedConfiguration(reading: places).settings
        }
    }

    /// A configured service, with the signers of all sources.
    private static func configured(
        _ options: ServiceOptions, _ settings: Settings
    ) throws -> (Service, [SourceName: SignerFile]) {
        let plan = settings.plan
        guard let service = plan.services.first(where: { $0.name == options.service }) else {
            let known = plan.services.map(\.name.text)
            throw CommandFailure(
                .noSuchService,
                noSuch("service", options.service?.text ?? "", known, orNone: "is configured"))
        }
        let zone = ZoneFiles.local
        let signers = settings.sources.reduce(into: [:]) { signers, source in
            signers[source.name] = source.signing.map {
                SignerFile(path: $0.signers, zone: { zone }, user: nil)
            }
        }
        return (service, signers)
    }

    private static func installed(_ service: Service) throws -> Version? {
        guard case .file(let path) = service.installed else { return nil }
        do {
            return try VersionFile.version(in: path)
        } catch {
            throw CommandFailure("installed_version_file: \(error)")
        }
    }

    /// The answers by `--flags`: `FILE` is for every source, `SOURCE=FILE` for one.
    private func answers(_ given: [String], fetchedAt: Instant) throws -> [SourceName: Answer] {
        var answers: [SourceName: Answer] = [:]
        for text in given {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let named = parts.count == 2 ? sources.first { $0.name.text == parts[0] } : nil
            let file = named == nil ? text : parts[1]
            let flags = try FlagFile(file)
            for source in named.map({ [$0] }) ?? sources {
                let isReadWhole = source.known.contains(ExactString(FlagDocument.wholeKey))
                answers[source.name] = try flags.answer(
                    by: signers[source.name],
                    alone: isReadWhole ? alone[source.name] ?? .nothing : .nothing,
                    fetchedAt: fetchedAt)
            }
        }
        return answers
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
                printError("the signatures are not checked: give --service NAME for that")
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
