import Agent
import Control
import Decision
import EventLoop
import JSON
import Records

/// The running daemon, for the methods of the control socket.
final class ControlledDaemon: ControllableDaemon {
    private let agent: Agent
    private let loop: EventLoop
    private let bootID: String
    private let readConfiguration: () -> Refusal?
    private(set) var refusal: String?
    let movesGates: Bool

    /// Why a configuration is refused.
    typealias Refusal = String

    /// `readConfiguration` reads the configuration again, and returns why it is refused; nil if it is in
    /// force. `movesGates` is whether decisions move units.
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

    /// Reads the configuration again for SIGHUP, which gets no reply.
    func readAgain() {
        refusal = readConfiguration()
    }
}
