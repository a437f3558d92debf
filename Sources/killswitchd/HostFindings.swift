import Decision
import EventLoop

/// What is wrong with the daemon's own configuration, files and servers. It is told when it comes and when it is over.
final class HostFindings {
    /// What tells one from another: a kind, and the name of a file where several may fail.
    private struct Matter: Hashable {
        let kind: Finding.Kind
        let name: String
    }

    private let log: Log
    private var facts: [Matter: Finding] = [:]
    private var findings = FindingLog()
    /// How often it has changed.
    private(set) var changes = 0

    init(_ log: Log) { self.log = log }

    var present: [Finding] { findings.present }

    /// Sets what is wrong, as a clause; nil for nothing.
    func set(_ kind: Finding.Kind, _ name: String = "", to problem: String?) {
        let matter = Matter(kind: kind, name: name)
        let finding = problem.map { Finding(.host, kind, $0, matter: name) }
        guard facts[matter] != finding else { return }
        facts[matter] = finding
        changes += 1
        let all = Finding.Kind.allCases.flatMap { kind in
            facts.filter { $0.key.kind == kind }.sorted { $0.key.name < $1.key.name }.map(\.value)
        }
        let (over, came) = findings.update(to: all, at: EventLoop.bootClock)
        for finding in over { log.write(.over(finding)) }
        for finding in came { log.write(.came(finding)) }
    }
}
