package import CivilTime
package import Decision

/// Many hosts in virtual time, each with a machine of its own, and one guard. Orders come to all of them at once; a
/// guard answers after a second with what is known when it was asked.
package struct GuardedFleet {
    private struct Host {
        var machine: Machine
        var wake = Wake()
        /// What its guard will answer in the next second.
        var answer: GuardAnswer?
        var isClosed = false
        var isHeld = false
    }

    private static let (service, source): (ServiceName?, SourceName?) = (
        ServiceName("shop"), SourceName("app")
    )
    private var hosts: [Host] = []
    package private(set) var now: Now
    /// How many questions the guard was asked, and how many at most in one second.
    package private(set) var questions = 0
    package private(set) var mostQuestions = 0

    package init(
        _ count: Int, isGuarded: Bool, policy: Policy = Policy(minClosed: .zero),
        from start: Instant = Instant(seconds: 1_806_000_000)
    ) {
        now = Now(wall: start, boot: Boottime(microseconds: 1_000_000_000), isSynchronised: true)
        guard let name = Self.service, let source = Self.source, let errors = GuardName("errors")
        else { return }
        let shop = Service(
            name: name, zone: .utc,
            switches: [Switch(source: source, format: .switchObject(.whole))], policy: policy)
        var plan = Plan(
            sources: [SourcePlan(name: source, interval: .seconds(86_400))], services: [shop])
        if isGuarded { plan.guards = [name: errors] }
        hosts = (0..<count).map { number in
            Host(
                machine: Machine(
                    plan: plan, memory: Memory(), place: .named("host-\(number)"), bootID: "boot",
                    clockFloor: start, seed: UInt64(number), at: now))
        }
        for host in hosts.indices { post(.started, to: host, .passes) }
    }

    /// Every host has this document now.
    package mutating func publish(_ body: String, _ answer: GuardAnswer = .passes) throws {
        let bytes = Array(body.utf8)
        let document = Answer(
            body: bytes, flags: try FlagDocument.parse(bytes), fetchedAt: now.wall)
        guard let source = Self.source else { return }
        for host in hosts.indices { post(.fetchEnded(source, .answer(document)), to: host, answer) }
    }

    /// An operator lets the held steps of all hosts come.
    package mutating func confirm() {
        guard let service = Self.service else { return }
        for host in hosts.indices { post(.confirm([service], by: "root"), to: host, .passes) }
    }

    /// One second later; `answer` is what the guard would answer now.
    package mutating func pass(asking answer: GuardAnswer) {
        now = Now(
            wall: now.wall + .seconds(1), boot: now.boot + .seconds(1), isSynchronised: true)
        let before = questions
        for host in hosts.indices {
            if let answered = hosts[host].answer, let errors = GuardName("errors") {
                hosts[host].answer = nil
                post(.guardAnswered(errors, answered), to: host, answer)
            }
            let wake = hosts[host].wake
            if wake.boot.map({ $0 <= now.boot }) ?? false
                || wake.wall.map({ $0 <= now.wall }) ?? false
            {
                post(.woke, to: host, answer)
            }
        }
        mostQuestions = max(mostQuestions, questions - before)
    }

    private mutating func post(_ event: Event, to host: Int, _ answer: GuardAnswer) {
        for effect in hosts[host].machine.handle(event, at: now) {
            switch effect {
            case .sleep(let wake): hosts[host].wake = wake
            case .ask:
                questions += 1
                hosts[host].answer = answer
            case .publish(_, let record):
                hosts[host].isClosed = record.verdict.gate == .closed
                hosts[host].isHeld = record.verdict.reason.slug == .awaitingGuard
            default: break
            }
        }
    }

    package func isClosed(_ host: Int) -> Bool { hosts[host].isClosed }

    package var closed: Int { hosts.count(where: \.isClosed) }

    package var held: Int { hosts.count(where: \.isHeld) }
}
