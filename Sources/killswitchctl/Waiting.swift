import CivilTime
import Decision
import EventLoop
import Records

/// The wait for a goal: watches a service's state file until it says so, or time is over.
final class Waiting {
    enum End: Int32 {
        case reached
        case timedOut
        /// Other services are known, this one is not: most likely a slip of the pen.
        case unknownService
    }

    private let goal: Goal
    private let service: ServiceName
    private let published: Published
    private let loop: EventLoop
    private let limit: Duration?
    private var following: Following?
    private var timer: Timer?
    private var validity: WallTimer?
    private var problem: CommandFailure?
    private var isOver = false
    /// What was last seen, for the message at the end.
    private(set) var last = "no state was published"
    /// Told what is so now, once, where it has to be waited for.
    var onWait: (String) -> Void = { _ in }

    init(
        for goal: Goal, of service: ServiceName, in published: Published, at limit: Duration?
    ) throws(CommandFailure) {
        self.goal = goal
        self.service = service
        self.published = published
        self.limit = limit
        do {
            loop = try EventLoop()
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    func run() throws(CommandFailure) -> End {
        do {
            following = try Following(service, in: published, on: loop) { [unowned self] in look() }
            validity = try WallTimer(loop) { [unowned self] _ in look() }
            if let limit {
                timer = try Timer(loop, accuracy: .zero) { [unowned self] in
                    exit(.timedOut)
                }
                timer?.set(at: loop.now.boot + limit)
            }
            look()
            if !isOver { onWait(last) }
            let code = try loop.run()
            if let problem { throw problem }
            return End(rawValue: code) ?? .timedOut
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    private func look() {
        do {
            guard let state = try published.state(of: service) else { return lookAtOthers() }
            guard state.isCurrent(at: loop.now.wall) else {
                last = "its state file is out of date"
                return
            }
            last = "it is \(state.summary)"
            if goal.isReached(by: state) { exit(.reached) }
            validity?.set(at: state.validUntil)
        } catch {
            last = "\(error)"
            if goal.isReached(by: error.marker) { exit(.reached) }
        }
    }

    private func lookAtOthers() {
        do {
            if try othersAreKnown() { exit(.unknownService) }
        } catch {
            problem = error
            exit(.timedOut)
        }
    }

    private func exit(_ end: End) {
        isOver = true
        loop.exit(end.rawValue)
    }

    private func othersAreKnown() throws(CommandFailure) -> Bool {
        do {
            return try !published.services().isEmpty
        } catch  where error.status == .unreachable {
            return false
        }
    }
}
