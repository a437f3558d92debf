import CivilTime
import ControlSocket
import Decision
import Gates
import JSON
import Support
import Testing

/// A daemon for tests: a real machine without loop, disk and network.
final class SimulatedDaemon: ControllableDaemon {
    private(set) var machine: Machine
    private var queue: [Event] = []
    private(set) var effects: [Effect] = []
    var now = Now(wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 0))
    var warnings: [String] = []
    var next: Result<Plan, MethodError>
    private let plan: Plan

    /// One service `shop` on one source `app`.
    init(activation: Activation = .immediate, closeAtOnce: Int? = nil) throws {
        var shop = Service(
            name: "shop", zone: .utc, switches: [Switch(source: "app", format: .status(.whole))],
            policy: Policy(minClosed: .zero))
        shop.activation = activation
        plan = Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(60))], services: [shop],
            guardLimits: GuardLimits(count: closeAtOnce))
        next = .success(plan)
        machine = Machine(
            plan: plan, memory: Memory(), bootID: "boot", clockFloor: Instant(seconds: 0), seed: 1,
            at: now)
        post(.started)
        settle()
    }

    var gates: GateMachine? = GateMachine(services: [])
    /// What the gate of every service is, and whether systemd has answered.
    var gate: JSON.Object?
    var isGateAnswered = true
    func gate(of service: ServiceName) -> JSON.Object? { gate }
    func isGateAnswered(_ service: ServiceName) -> Bool { isGateAnswered }

    var attachmentOutcome: AttachmentOutcome? = AttachmentOutcome()

    func explanation(of service: ServiceName) -> JSON.Object? {
        [
            "lines": [.string(message)],
            "switches": .array(machine.explanation(of: service, at: now).map { _ in [] } ?? []),
        ]
    }
    var drillIntervals: [ServiceName: Duration] = [:]
    func post(_ event: Event) { queue.append(event) }
    var isIdle: Bool { queue.isEmpty }
    private(set) var rejections: [OrderRejection] = []

    func state(of service: ServiceName) -> JSON.Object? {
        guard let verdict = machine.publishedVerdict(of: service)?.verdict else { return nil }
        return [
            "service": .string(service.text), "state": .string(verdict.state.rawValue),
            "author": verdict.override.map { .string($0.author) } ?? .null,
        ]
    }

    func reload() throws(MethodError) -> [String] {
        switch next {
        case .success(let plan):
            post(.reconfigured(plan))
            return warnings
        case .failure(let error): throw error
        }
    }

    var message = ""

    /// Handles the posted events. What was rejected before is forgotten.
    func settle() {
        rejections = []
        while !queue.isEmpty {
            for effect in machine.handle(queue.removeFirst(), at: now) {
                effects.append(effect)
                if case .reject(let service, let order, let objection) = effect {
                    rejections.append(OrderRejection(service, order, objection))
                }
                if case .storeOverrides = effect {
                    queue.append(.writeEnded(.storeOverrides, problem: keepProblem))
                }
            }
        }
    }

    /// Why overrides cannot be stored.
    var keepProblem: String?

    /// Posts an answer of the source with this `apiInactive`.
    func answer(inactive: Bool) throws {
        let body = #"{"apiInactive": \#(inactive), "forceUpdate": false}"#
        let answer = Answer(
            body: Array(body.utf8), flags: try #require(try JSON.Value.parse(body).object),
            fetchedAt: now.wall)
        now = Now(wall: now.wall + .seconds(1), boot: now.boot + .seconds(1))
        post(.fetchEnded("app", .answer(answer)))
    }
}
