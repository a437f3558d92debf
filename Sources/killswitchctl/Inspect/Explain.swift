import ArgumentParser
import Configuration
import ControlSocket
import Decision
import Files
import JSON
import Storage

/// `killswitchctl explain SERVICE`, `killswitchctl explain WORD`
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a service is in its state, or what a word means.",
        discussion: """
            Prints the chain: what each source said and how long ago, the flags that mattered, the \
            reading of each switch, the policy, an override, the verdict, until when it holds and what \
            to type to change it, what is wrong, the gate and the attached units. The running daemon gives \
            the first links, with the addresses of the sources, to root and the group killswitchd; \
            others, and without a daemon all, see the links after the policy.

            A WORD is one that other commands print: a reason, such as awaiting-guard, a finding, \
            such as unit-late, a state, or what a gate is, such as stuck.

            Exits with 3 if the state file is out of date, after printing.

            example: killswitchctl explain shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print JSON.") var json = false

    @Argument(
        help: ArgumentHelp("The service, or a word.", valueName: "service"),
        completion: .servicesAndWords, transform: ServiceName.read)
    var service: ServiceName

    func run() throws {
        let published = try PublishedFiles(common)
        // A service whose state cannot be read exists.
        let isService = readable { try published.state(of: service) != nil } ?? true
        if !isService, let word = ExplainedWord(service.text) {
            if json { printJSON(word.json) } else { printLines(word.text) }
            return
        }
        let host = PublishedHost(of: published, about: [service])
        // They may be why the state cannot be read.
        for problem in host.problems where problem.isOfHost {
            printError("\(problem.line(at: published.now))\n    to do: \(problem.advice)")
        }
        let state: PublishedState
        do { state = try published.known(service) } catch let failure as CommandFailure {
            guard failure.status == .noSuchService else { throw failure }
            guard let orphan = OrphanedService(service) else {
                let hint = nearest(to: service.text, among: ExplainedWord.words)
                guard let hint,
                    nearest(to: service.text, among: try published.services().map(\.text)) == nil
                else { throw failure }
                throw CommandFailure(
                    .noSuchService,
                    "no service, reason, finding, state or gate is called '\(service)'; did you mean '\(hint)'?"
                )
            }
            if json { printJSON(orphan.json) } else { printLines(orphan.explanation) }
            throw CommandFailure(.noSuchService)
        }
        var report = ExplanationReport(
            state: state, gate: published.gate(of: service, beside: state.gate),
            units: try published.units(of: service), now: published.now,
            isCurrent: published.isCurrent(state, at: published.now),
            problems: host.problems.filter { !$0.isOfHost }, sources: host.sources,
            isConfirmed: { published.age(ofSource: $0) != nil },
            isDaemonThere: host.absence == nil)
        do {
            let reply = try published.daemon(timeout: .seconds(5))
                .call("Explain", ["service": .string(service.text)])
            report.chain = ExplanationForm(reply: reply)
        } catch {
            let isNobodyThere = (error as? SocketError)?.isNobodyThere == true
            report.gap =
                isNobodyThere
                ? "killswitchd does not run, and it alone shows them"
                : CommandFailure(error).message
            if isNobodyThere { report.isDaemonThere = false }
        }
        if json { printJSON(report.json) } else { printLines(report.text) }
        guard report.isCurrent else {
            throw CommandFailure(.undecided, published.isOutOfDate(service))
        }
    }
}
