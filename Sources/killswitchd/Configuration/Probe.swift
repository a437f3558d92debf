import Configuration
import Decision
import EventLoop
import FlagSources
import JSON

/// `--check --probe`: fetches each source once, as the daemon would, and prints how that ended. No file of the daemon
/// is written, but a source of type `firebase` may register this host.
final class Probe {
    private let loop: EventLoop
    private let sources: SourceRegistry
    private let followed: [any FlagSource]
    private var outcomes: [SourceName: Outcome] = [:]

    /// Makes the sources of a configuration. If root probes the sources of the system, the process becomes the
    /// daemon's user for good, so that it may read what the daemon may read.
    init(_ settings: Settings, _ options: Options) throws {
        let reader = FileReader.ofTheDaemon(isOfTheSystem: options.configuration == nil)
        let paths = try DirectoryPaths(options)
        try reader.becomeDaemon()
        loop = try EventLoop()
        sources = SourceRegistry(
            on: loop,
            .ofThisProcess(
                stateDirectory: paths.state, runtimeDirectory: paths.runtime,
                credentialsDirectory: reader.credentials))
        followed = try sources.update(to: settings.sources)
        let keys = settings.plan.keysRead
        for source in followed { source.setKeys(keys[source.name] ?? []) }
    }

    /// Fetches from each source; returns the exit status.
    func run() throws -> Int32 {
        sources.deliver = { [unowned self] event in
            if case .fetchEnded(let source, let outcome, _) = event, outcomes[source] == nil {
                outcomes[source] = outcome
            }
        }
        var status = DaemonExitStatus.success
        // One mirror of each source after the other.
        for mirror in 0..<(followed.map(\.mirrors.count).max() ?? 0) + 1 {
            let asked = followed.filter { mirror == 0 || mirror < $0.mirrors.count }
            outcomes = [:]
            for source in asked { source.fetch(from: mirror, unlessMatching: Validators()) }
            // Each source ends its fetch inside of its time limit.
            while outcomes.count < asked.count { try loop.runOnce(.seconds(60)) }
            if !printOutcomes(of: asked, mirror) { status = DaemonExitStatus.noAnswer }
        }
        for source in followed { source.stop() }
        return status
    }

    /// Prints how the fetches have ended. True if each has brought an answer.
    private func printOutcomes(of asked: [any FlagSource], _ mirror: Int) -> Bool {
        var isGood = true
        for source in asked {
            let words: String
            switch outcomes[source.name] {
            case .answer(let answer):
                let authors = answer.signed?.authors.joined(separator: ", ")
                words =
                    "answers, \(answer.flags.count) flags"
                    + (authors.map { ", signed by \($0)" } ?? "")
            case .unchanged, nil: words = "answers"
            case .failure(let failure):
                words = "fails: \(failure.detail)"
                isGood = false
            }
            let place = source.mirrors.isEmpty ? "" : " at '\(source.mirrors[mirror].printable)'"
            print("source '\(source.name)'\(place) \(words.printable)")
        }
        return isGood
    }
}
