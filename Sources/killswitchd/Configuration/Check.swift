import Configuration
import Decision
import Files
import FlagSignatures
import FlagSources
import JSON
import Requests
import SourceSettings
import Storage

/// `--check`: prints files and settings with their places. Warns of files that the daemon could not read.
enum Check {
    /// Checks the configuration; returns the exit status.
    static func run(_ options: Options, _ log: Log) -> Int32 {
        do {
            let files = try ConfigurationFiles(reading: options.places())
            for file in files.contents { print("read \(file.path.printable)") }
            for file in files.skipped { print("\(file)".printable) }
            let configuration = try LoadedConfiguration(files, zones: zones(options))
            let settings = configuration.settings
            for template in configuration.templates { print("read \(template.path.printable)") }
            for setting in settings.effective { print("\(setting)".printable) }
            for warning in settings.warnings { log.write(.warning, "\(warning)") }
            let reader = FileReader.ofTheDaemon(isOfTheSystem: options.configuration == nil)
            for (file, origin) in configuration.neededFiles {
                guard let problem = reader.problem(of: file) else { continue }
                log.write(.warning, "\(origin): \(problem)")
            }
            for problem in settings.signerProblems { log.write(.warning, problem) }
            return options.isProbing ? try Probe(settings, options).run() : DaemonExitStatus.success
        } catch let error as UsageError {
            if let message = error.message { log.write(.error, message) }
            return DaemonExitStatus.usage
        } catch {
            log.write(.error, "\(error)")
            return DaemonExitStatus.configuration
        }
    }
}

extension Check {
    /// The zones of this system, with the data that a daemon has stored of them, if this user may read it.
    private static func zones(_ options: Options) -> Zones {
        .ofThisSystem(stored: {
            readable {
                let state = StateDirectory(
                    path: try DirectoryPaths(options).state, isForeign: true)
                return try state.keptConfiguration()?.zones ?? []
            } ?? []
        })
    }
}

/// A file that a source, a guard, a service or the reports read: how it is named, and how strict its mode has to be.
enum NeededFile {
    case plain(String)
    case certificate(Credential)
    case secret(Credential)
}

extension LoadedConfiguration {
    /// The files that the sources, guards, services and reports of this configuration read, each with the place of its
    /// setting.
    fileprivate var neededFiles: [(file: NeededFile, origin: String)] {
        var files: [(file: NeededFile, origin: String)] = []
        for source in settings.sources {
            let signers = source.signing.map { [.plain($0.signers)] } ?? [NeededFile]()
            files += (source.kind.neededFiles + signers).map { ($0, "source '\(source.name)'") }
        }
        for (name, settings) in settings.guards.sorted(by: { $0.key < $1.key }) {
            files += settings.server.neededFiles.map { ($0, "guard '\(name)'") }
        }
        files += (settings.report?.server?.neededFiles ?? []).map { ($0, "[report]") }
        files += templates.map { (.plain($0.path), "template") }
        for service in settings.services {
            guard case .file(let path) = service.installed else { continue }
            files.append((.plain(path), "service '\(service.name)'"))
        }
        return files
    }
}

extension Source.Kind {
    fileprivate var neededFiles: [NeededFile] {
        switch self {
        case .file(let path, _): [.plain(path)]
        case .http(let settings): settings.neededFiles
        case .ofrep(let settings): settings.server.neededFiles
        case .etcd(let settings):
            settings.server.neededFiles + (settings.login.map { [.secret($0.password)] } ?? [])
        case .firebase: []
        case .firebaseServer(let settings): settings.credential.map { [.secret($0)] } ?? []
        }
    }
}

extension HTTPSettings {
    fileprivate var neededFiles: [NeededFile] {
        CredentialRole.allCases.compactMap { role in
            credentials[role].map { isSecret(role) ? .secret($0) : .certificate($0) }
        }
    }
}

extension Settings {
    /// What is wrong with the lists of signers, beside that the daemon may not read them.
    fileprivate var signerProblems: [String] {
        sources.compactMap { source in
            guard let signing = source.signing else { return nil }
            do throws(DocumentRefusal) {
                let zone = HostEnvironment.localZone
                _ = try SignerFile(path: signing.signers, zone: { zone }, user: nil).read()
                return nil
            } catch {
                return "source '\(source.name)': \(error)"
            }
        }
    }
}
