import Decision
import Files
import HostConfiguration
import Records
import Settings

/// Where the configuration comes from: the disk, or what was accepted last where the disk holds
/// nothing that can be run.
///
/// A broken configuration changes nothing: what was accepted last runs on, and everybody who looks
/// is told.
final class ConfigurationStore {
    private let places: ConfigurationPlaces
    private let state: StateDirectory
    private let log: Log
    /// Why what is on disk is not in force.
    private(set) var refusal: String?

    init(_ places: ConfigurationPlaces, state: StateDirectory, log: Log) {
        self.places = places
        self.state = state
        self.log = log
    }

    /// The configuration to start with. Throws what is wrong with that on disk where none is kept.
    func first() throws(ConfigurationError) -> Configuration {
        do {
            return accept(try Configuration(reading: places))
        } catch {
            guard let kept = kept() else { throw error }
            refuse(error)
            return kept
        }
    }

    /// The configuration on disk, after somebody asked for it to be read again; nil where it is
    /// refused.
    func next() -> Configuration? {
        do {
            let configuration = accept(try Configuration(reading: places))
            log.write(
                .info, "the configuration was read again: \(configuration.summary)",
                id: .configurationAccepted)
            return configuration
        } catch {
            refuse(error)
            return nil
        }
    }

    /// Keeps a configuration for bad days, once there is a folder to keep it in.
    func keep(_ configuration: Configuration) {
        guard refusal == nil else { return }
        do {
            try state.keep(
                configuration.files.contents.map { .init(path: $0.path, bytes: $0.bytes) })
        } catch {
            log.write(.error, "keep the configuration: \(error)", id: .recordFailed)
        }
    }

    private func accept(_ configuration: Configuration) -> Configuration {
        for warning in configuration.warnings {
            log.write(.warning, warning, id: .configurationQuestionable)
        }
        refusal = nil
        return configuration
    }

    private func refuse(_ error: ConfigurationError) {
        refusal = error.description
        log.write(
            .error,
            "the configuration is refused, the one accepted last stays in force:\n\(error)",
            id: .configurationRefused)
    }

    private func kept() -> Configuration? {
        do {
            switch try state.keptConfiguration() {
            case .value(let files):
                return try Configuration(
                    ConfigurationFiles(files.map { .init(path: $0.path, bytes: $0.bytes) }))
            case .nothing:
                return nil
            case .unreadable(let problem):
                log.write(.warning, "\(problem); starting without it")
            }
        } catch {
            log.write(.warning, "the configuration that was kept: \(error)")
        }
        return nil
    }
}

extension Configuration {
    /// Its size in words.
    fileprivate var summary: String {
        let (services, sources) = (settings.services.count, settings.sources.count)
        return "\(services) \(services == 1 ? "service" : "services"), "
            + "\(sources) \(sources == 1 ? "source" : "sources")"
    }
}
