import Agent
import Control
import Decision
import EventLoop
import JSON
import Records

/// The running daemon, for the methods of the control socket.
final class ControlledDaemon: ControllableDaemon {
    private let agent: Agent
    private let store: ConfigurationStore
    private let bootID: String
    private let readConfiguration: () -> Void
    let movesGates: Bool

    /// `movesGates` is whether decisions move units. `readConfiguration` reads the configuration again;
    /// the store says whether it is refused.
    init(
        _ agent: Agent, _ store: ConfigurationStore, bootID: String, movesGates: Bool,
        readConfiguration: @escaping () -> Void
    ) {
        self.agent = agent
        self.store = store
        self.bootID = bootID
        self.movesGates = movesGates
        self.readConfiguration = readConfiguration
    }

    var now: Now { agent.now }

    var machine: Machine { agent.machine }

    var refusal: String? { store.refusal }

    var descriptors: (used: Int?, limit: Int) { (DescriptorBudget.used, DescriptorBudget.limit) }

    func state(of service: ServiceName) -> JSON.Object? {
        guard let record = machine.record(of: service),
            let configured = machine.service(service.text)
        else { return nil }
        return StateFile.json(of: record, for: configured, bootID: bootID)
    }

    func post(_ event: Event) { agent.post(event) }

    func reload() throws(MethodError) {
        readConfiguration()
        if let refusal { throw .configurationRefused(refusal) }
    }
}
