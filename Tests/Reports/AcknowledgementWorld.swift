import CivilTime
import Decision
import Reports
import Support

/// An `AcknowledgementMachine` in virtual time, a host whose services have a state that is a letter, and a cluster.
struct AcknowledgementWorld {
    /// What the cluster does with a put that it gets at this second.
    enum Answer {
        case takes(after: Duration = .milliseconds(5))
        case fails(retryAfter: Duration? = nil)
        case denies
        /// It wants a token: a put that may log in is taken, and so are all after it.
        case wantsToken
        /// Nothing comes until the time limit of 30 s.
        case isSilent
    }

    struct Put: Equatable {
        let second: Int64
        let service: ServiceName
        let state: String
    }

    private(set) var taken: [Put] = []
    private(set) var attempts: [Int64] = []
    private(set) var logins: [Int64] = []
    private(set) var mostInFlight = 0
    private(set) var machine: AcknowledgementMachine
    private var wakeAt: Boottime?
    private var inFlight: [(put: Put, endsAt: Boottime, event: AcknowledgementEvent)] = []
    private var states: [ServiceName: String] = [:]
    private var now = Boottime(microseconds: 0)
    private var hasToken = false
    private let cluster: (Int64) -> Answer

    init(seed: UInt64 = 1, cluster: @escaping (Int64) -> Answer = { _ in .takes() }) {
        machine = AcknowledgementMachine(seed: seed)
        self.cluster = cluster
    }

    /// A service is in another state from this second on. Units may be on their way.
    mutating func at(
        _ seconds: Int64, _ service: ServiceName = "shop", is state: String, isSettled: Bool = true
    ) {
        run(until: seconds)
        states[service] = state
        handle(.published(service, fingerprint: state.hashValue, isSettled: isSettled))
    }

    mutating func at(_ seconds: Int64, withdraws service: ServiceName) {
        run(until: seconds)
        states[service] = nil
        handle(.withdrawn(service))
    }

    mutating func run(until seconds: Int64) {
        let end = Boottime(microseconds: seconds * 1_000_000)
        while let next = ([wakeAt].compactMap(\.self) + inFlight.map(\.endsAt)).min(), next <= end {
            now = max(now, next)
            if let index = inFlight.firstIndex(where: { $0.endsAt <= now }) {
                let ended = inFlight.remove(at: index)
                if case .taken = ended.event { taken.append(ended.put) }
                handle(ended.event)
            } else {
                wakeAt = nil
                handle(.woke)
            }
        }
        now = end
    }

    /// When the cluster was told each state of a service, in its order.
    func told(_ service: ServiceName = "shop") -> [String] {
        taken.filter { $0.service == service }.map(\.state)
    }

    private var second: Int64 { now.microseconds / 1_000_000 }

    private mutating func handle(_ event: AcknowledgementEvent) {
        for effect in machine.handle(event, at: now) {
            switch effect {
            case .sleep(let moment): wakeAt = moment
            case .put(let service, let mayLogIn): put(service, mayLogIn)
            }
        }
    }

    private mutating func put(_ service: ServiceName, _ mayLogIn: Bool) {
        guard let state = states[service] else { return handle(.obsolete) }
        attempts.append(second)
        let success = AcknowledgementEvent.taken(fingerprint: state.hashValue)
        let (time, event): (Duration, AcknowledgementEvent) =
            switch cluster(second) {
            case .takes(let time): (time, success)
            case .fails(let wait): (.zero, .failed(retryAfter: wait, isRefused: false))
            case .denies: (.zero, .failed(retryAfter: nil, isRefused: true))
            case .isSilent: (.seconds(30), .failed(retryAfter: nil, isRefused: false))
            case .wantsToken:
                if hasToken || mayLogIn {
                    (.milliseconds(80), success)
                } else {
                    (.zero, .loginNeeded)
                }
            }
        if mayLogIn, !hasToken {
            logins.append(second)
            hasToken = true
        }
        inFlight.append(
            (Put(second: second, service: service, state: state), now + time, event))
        mostInFlight = max(mostInFlight, inFlight.count)
    }
}
