import CivilTime
import ControlSocket
import Decision
import Gates
import JSON

extension Fuzz {
    static func varlink(_ bytes: [UInt8]) -> Bool {
        var framing = Framing(limit: 4096)
        framing.append(bytes)
        var isCalled = false
        while let message = accepted({ try framing.next() }) ?? nil {
            guard let call = accepted({ try MethodCall(message) }) else { continue }
            let again = accepted { try MethodCall(Array(call.message.dropLast())) }
            hold(again == call, "the call is the same")
            guard let reply = FuzzedDaemon().reply(to: call) else { continue }
            let message = reply.message
            hold(message.firstIndex(of: 0) == message.count - 1, "a reply is one message")
            hold(Reply(Array(message.dropLast())) == reply, "the reply is the same")
            if case .failure = reply { continue }
            isCalled = true
        }
        return isCalled
    }
}

/// A daemon of one service, without loop, disk and network.
private final class FuzzedDaemon: ControllableDaemon {
    let now = Now(wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 0))
    var isIdle: Bool { queue.isEmpty }
    private(set) var rejections: [OrderRejection] = []
    let drillIntervals: [ServiceName: Duration] = [:]
    let gates: GateMachine? = GateMachine(services: [])
    let attachmentOutcome: AttachmentOutcome? = AttachmentOutcome()
    private(set) var machine = FuzzedDaemon.started
    private var queue: [Event] = []

    /// The reply to a call; nil if it does not come.
    func reply(to call: MethodCall) -> Reply? {
        let dispatcher = Dispatcher(
            self, version: "9.9",
            author: { peer, sudoUser in "user \(peer.user) \(sudoUser ?? "")" })
        do throws(MethodError) {
            switch try dispatcher.perform(call, by: Peer(user: 0, groups: [0])) {
            case .now(let parameters): return .last(parameters)
            case .later(let advance):
                if let reply = try advance() { return .last(reply) }
                settle()
                return try advance().map { .last($0) }
            }
        } catch {
            return .failure(error)
        }
    }

    /// Handles the posted events, as the daemon does.
    private func settle() {
        while !queue.isEmpty {
            for effect in machine.handle(queue.removeFirst(), at: now) {
                if case .reject(let service, let order, let objection) = effect {
                    rejections.append(OrderRejection(service, order, objection))
                }
                if case .storeOverrides = effect {
                    queue.append(.writeEnded(.storeOverrides, problem: nil))
                }
            }
        }
    }

    func post(_ event: Event) { queue.append(event) }

    func reload() throws(MethodError) -> [String] {
        post(.reconfigured(machine.plan))
        return []
    }

    func state(of service: ServiceName) -> JSON.Object? {
        machine.publishedVerdict(of: service).map { ["state": .string($0.verdict.state.rawValue)] }
    }

    func explanation(of service: ServiceName) -> JSON.Object? {
        machine.explanation(of: service, at: now).map { _ in ["lines": [], "switches": []] }
    }

    func gate(of service: ServiceName) -> JSON.Object? { nil }

    func isGateAnswered(_ service: ServiceName) -> Bool { true }

    /// The machine after the first answer of its source.
    private static let started: Machine = {
        let now = Now(wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 0))
        var services: [Service] = []
        var sources: [SourcePlan] = []
        if let name = ServiceName("shop"), let source = SourceName("app") {
            services = [
                Service(
                    name: name, zone: .utc,
                    switches: [Switch(source: source, format: .status(.whole))])
            ]
            sources = [SourcePlan(name: source, interval: .seconds(60))]
        }
        var machine = Machine(
            plan: Plan(sources: sources, services: services), memory: Memory(), bootID: "boot",
            clockFloor: Instant(seconds: 0), seed: 1, at: now)
        _ = machine.handle(.started, at: now)
        let body = Array(#"{"apiInactive": false, "forceUpdate": false}"#.utf8)
        if let source = sources.first, let flags = Fuzz.accepted({ try FlagDocument.parse(body) }) {
            let answer = Answer(body: body, flags: flags, fetchedAt: now.wall)
            _ = machine.handle(.fetchEnded(source.name, .answer(answer)), at: now)
        }
        return machine
    }()
}
