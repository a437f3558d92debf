import Agent
import Control
import Decision
import EventLoop
import JSON
import Records

/// The daemon as the control socket sees it.
final class ControlledDaemon: ControllableDaemon {
    private let agent: Agent
    private let loop: EventLoop
    private let bootID: String
    private let readConfiguration: () -> Refusal?
    private(set) var refusal: String?
    let movesGates: Bool

    /// Why the configuration was not put in force.
    typealias Refusal = String

    /// `readConfiguration` reads the configuration again, and says why it is refused. `movesGates` is
    /// whether decisions move units.
    init(
        _ agent: Agent, on loop: EventLoop, bootID: String, refusal: String?, movesGates: Bool,
        readConfiguration: @escaping () -> Refusal?
    ) {
        self.agent = agent
        self.loop = loop
        self.bootID = bootID
        self.refusal = refusal
        self.movesGates = movesGates
        self.readConfiguration = readConfiguration
    }

    var now: Now {
        let (wall, boot) = loop.now
        return Now(wall: wall, boot: boot)
    }

    var services: [Service] { agent.services }

    var overview: Overview { agent.overview }

    func record(of service: ServiceName) -> Record? { agent.record(of: service) }

    func state(of service: ServiceName) -> JSON.Object? {
        guard let record = agent.record(of: service),
            let configured = agent.services.first(where: { $0.name == service })
        else { return nil }
        return StateFile.json(of: record, for: configured, bootID: bootID)
    }

    func isStaged(_ service: ServiceName) -> Bool { agent.isStaged(service) }

    func isHeld(_ service: ServiceName) -> Bool { agent.isHeld(service) }

    func objection(to service: ServiceName) -> Objection? { agent.objection(to: service) }

    func post(_ event: Event) { agent.post(event) }

    func reload() throws(MethodError) {
        readAgain()
        if let refusal { throw .configurationRefused(refusal) }
    }

    /// Reads the configuration again, for somebody who does not wait for what comes of it.
    func readAgain() {
        refusal = readConfiguration()
    }
}
