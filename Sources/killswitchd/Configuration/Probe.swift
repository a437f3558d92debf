import Configuration
import Decision
import EventLoop
import FlagSources
import Guards
import JSON
import SourceSettings

/// `--check --probe`: fetches each source once, as the daemon would, and prints how that ended; then it asks each
/// guard, and prints what that answers. No file of the daemon
/// is written, but a source of type `firebase` may register this host.
final class Probe {
    private let loop: EventLoop
    private let sources: SourceRegistry
    private let followed: [any FlagSource]
    private let guards: [GuardName: GuardSettings]
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
                stateDirectory: paths.state, credentialsDirectory: reader.credentials))
        followed = try sources.update(to: settings.sources)
        guards = settings.guards
        let keys = settings.plan.keysRead
        for source in followed { source.setKeys(keys[source.name] ?? []) }
    }

    /// Fetches from each source; returns the exit status.
    func run() throws -> Int32 {
        sources.deliver = { [unowned self] event in
            if case .fetchEnded(let source, let outcome, _, _) = event, outcomes[source] == nil {
                outcomes[source] = outcome
            }
        }
        var status = DaemonExitStatus.success
        // One mirror of each source after the other.
        for mirror in 0..<max(1, followed.map(\.mirrors.count).max() ?? 1) {
            let asked = followed.filter { mirror == 0 || mirror < $0.mirrors.count }
            outcomes = [:]
            for source in asked { source.fetch(from: mirror, unlessMatching: Validators()) }
            // Each source ends its fetch inside of its time limit.
            while outcomes.count < asked.count { try loop.runOnce(.seconds(60)) }
            if !printOutcomes(of: asked, mirror) { status = DaemonExitStatus.noAnswer }
        }
        for source in followed { source.stop() }
        try askGuards()
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

    /// Asks each guard. One that does not pass is no mistake of the configuration.
    private func askGuards() throws {
        var answers: [GuardName: GuardAnswer] = [:]
        let asker = GuardAsker(
            sources.environment, client: { [sources] in try sources.sharedClient() },
            answered: { answers[$0] = $1 })
        asker.configure(guards)
        for name in guards.keys { asker.ask(name) }
        while answers.count < guards.count { try loop.runOnce(.seconds(60)) }
        for (name, answer) in answers.sorted(by: { $0.key < $1.key }) {
            switch answer {
            case .passes: print("guard '\(name)' passes")
            case .holds(let cause): print("guard '\(name)' does not pass: \(cause.printable)")
            }
        }
    }
}
