import Configuration
import ControlSocket
import Decision
import Drivers
import EventLoop
import Gates
import Guards
import JSON
import Storage

extension Daemon {
    /// The control socket. The switches work without it, so a failure does not end the daemon.
    func listen() -> Server? {
        let dispatcher = Dispatcher(
            self, version: ProgramVersion.current,
            author: { Accounts.ofThisHost().author($0, sudoUser: $1) })
        do {
            return try Server(
                loop, path: "\(runtime.path)/\(FileName.controlSocket)", dispatcher,
                permission: Permission.ofThisProcess)
        } catch {
            findings.set(.controlSocket, to: Self.withoutSocket(error))
            return nil
        }
    }

    /// Sees whether the daemon has most of its descriptors open.
    func countDescriptors() {
        let (used, limit) = (Descriptors.used ?? 0, Descriptors.limit)
        let isMuch = used > limit / 4 * 3
        let words = "the daemon uses \(used) of \(limit) descriptors"
        findings.set(.descriptors, to: isMuch ? words : nil)
    }

    /// What follows where the control socket cannot be opened.
    static func withoutSocket(_ error: any Error) -> String {
        "\(error); killswitchctl shows states but cannot give orders"
    }
}

/// The running daemon, for the methods of the control socket.
extension Daemon: ControllableDaemon {
    var now: Now { decisionDriver.now }

    var machine: Machine { decisionDriver.machine }

    var condition: HostCondition { HostCondition(store, findings, gateDriver) }

    /// The state of the host now, with all that is known beside the machine.
    var overview: Overview { machine.overview(at: now, condition) }

    var gates: GateMachine? { gateDriver?.gates }

    /// A reload and what follows from it are handled too.
    var isIdle: Bool { decisionDriver.isIdle }

    func state(of service: ServiceName) -> JSON.Object? {
        guard let record = machine.publishedVerdict(of: service),
            let configured = machine.service(service.text)
        else { return nil }
        return StateFile.json(of: record, for: configured, bootID: bootID)
    }

    func gate(of service: ServiceName) -> JSON.Object? {
        guard let configured = machine.service(service.text) else { return nil }
        let verdict = machine.publishedVerdict(of: service)?.verdict
        let unmoved = verdict?.gate.map {
            GateStatus(unmoved: $0, isEnforced: configured.isEnforced)
        }
        let report =
            configured.isEnforced ? gateDriver.map { $0.report(of: service) } ?? unmoved : unmoved
        return report.map { GateFile.json(of: $0, in: configured.zone, now: loop.now) }
    }

    func isGateAnswered(_ service: ServiceName) -> Bool { gateDriver?.isAnswered(service) ?? true }

    var attachmentOutcome: AttachmentOutcome? {
        gateDriver.map(\.attachmentOutcome) ?? AttachmentOutcome()
    }

    func explanation(of service: ServiceName) -> JSON.Object? {
        let now = decisionDriver.now
        return machine.explanation(of: service, at: now).map {
            ExplanationForm(
                $0, guards: guards?.guards ?? [:],
                sources: store.accepted?.settings.sources ?? [], at: now.wall
            ).reply
        }
    }

    func post(_ event: Event) { decisionDriver.post(event) }

    func reload() throws(MethodError) -> [String] {
        let warnings = readConfiguration()
        if let refusal = store.refusal { throw .configurationRefused(refusal) }
        return warnings
    }
}

extension HostCondition {
    /// What the configuration, the daemon's own files and the gates have to tell now.
    init(_ store: ConfigurationStore, _ findings: HostFindings, _ gateDriver: GateDriver?) {
        self.init()
        refusal = store.refusal
        self.findings = findings.present
        gates = gateDriver?.overview
    }
}
