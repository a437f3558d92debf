import Configuration
import Decision
import EventLoop
import Files
import Storage

/// Reads the configuration on disk, and falls back to the last accepted one.
///
/// A configuration that cannot be put in force changes nothing. The control socket and the service manager are told
/// `refusal` and `keeping`; readers of files find the reason in the runtime directory.
final class ConfigurationStore {
    private let places: ConfigurationPlaces
    private let state: StateDirectory
    private let runtime: RuntimeDirectory
    private let log: Log
    /// The configuration in force; nil before the first.
    private(set) var accepted: LoadedConfiguration?
    private let findings: HostFindings
    /// Why the configuration on disk is not in force; nil if it is in force.
    private(set) var refusal: String? {
        didSet {
            let clause = "configuration refused; the last accepted one stays in force: "
            findings.set(.configurationRefused, to: refusal.map { clause + $0 })
        }
    }

    init(
        _ places: ConfigurationPlaces, state: StateDirectory, runtime: RuntimeDirectory,
        _ findings: HostFindings, log: Log
    ) {
        self.findings = findings
        self.places = places
        self.state = state
        self.runtime = runtime
        self.log = log
    }

    /// The configuration to start with. Throws if that on disk is invalid and no accepted one is kept.
    func first() throws(ConfigurationError) -> LoadedConfiguration {
        do {
            return try read()
        } catch {
            guard let kept = kept() else { throw error }
            refusal = "\(error)"
            return kept
        }
    }

    /// Notes that the first configuration is in force, once there are directories to note it in.
    func putInForce(_ configuration: LoadedConfiguration) {
        // One that was kept by an earlier run is kept with the zones that can be read now.
        keep(configuration)
        writeRefusal()
    }

    /// Reads the configuration on disk again, and has `prepare` make the objects that it needs. If
    /// either fails, the configuration is refused: the result is nil, and nothing has changed.
    func next<Prepared>(
        _ prepare: (LoadedConfiguration) throws -> Prepared
    ) -> (LoadedConfiguration, Prepared)? {
        defer { writeRefusal() }
        do {
            let configuration = try read()
            let prepared = try prepare(configuration)
            refusal = nil
            log.write(
                .info, "the configuration was read again: \(configuration.summary)",
                id: .configurationAccepted)
            keep(configuration)
            return (configuration, prepared)
        } catch {
            refusal = "\(error)"
            return nil
        }
    }

    private func read() throws(ConfigurationError) -> LoadedConfiguration {
        let configuration = try LoadedConfiguration(
            reading: places, zones: .ofThisSystem(stored: storedZones))
        for warning in configuration.warnings {
            log.write(.warning, warning, id: .configurationQuestionable)
        }
        return configuration
    }

    /// The data of time zones that is kept with the accepted configuration.
    private func storedZones() -> [StateDirectory.StoredZone] {
        accepted?.kept.zones ?? readable { try state.keptConfiguration()?.zones ?? [] } ?? []
    }

    /// Tells readers of files whether the configuration is in force. A full disk must not stop the daemon.
    func writeRefusal() {
        do {
            try runtime.write(refusal: refusal)
            findings.set(.runtimeDirectory, "refusal", to: nil)
        } catch {
            findings.set(
                .runtimeDirectory, "refusal", to: "say that the configuration is refused: \(error)")
        }
    }

    /// Stores the accepted configuration again: somebody has deleted it.
    func keepAgain() { if let accepted { keep(accepted) } }

    /// Stores an accepted configuration, for a later start with an invalid one.
    private func keep(_ configuration: LoadedConfiguration) {
        accepted = configuration
        do {
            try state.keep(configuration.kept)
            findings.set(.configurationNotKept, to: nil)
        } catch {
            findings.set(
                .configurationNotKept, to: "the accepted configuration is not stored: \(error)")
        }
    }

    private func kept() -> LoadedConfiguration? {
        do {
            guard let kept = try state.keptConfiguration() else { return nil }
            return try LoadedConfiguration(kept)
        } catch let error as UnreadableContent {
            log.write(.warning, "\(error); starting without it")
        } catch {
            log.write(.warning, "the configuration that was kept: \(error)")
        }
        return nil
    }
}

extension LoadedConfiguration {
    fileprivate var summary: String {
        let (services, sources) = (settings.services.count, settings.sources.count)
        return "\(services) \(services == 1 ? "service" : "services"), "
            + "\(sources) \(sources == 1 ? "source" : "sources")"
    }
}
