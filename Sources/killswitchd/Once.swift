import Agent
import Decision
import EventLoop

/// `--once`: waits until each source was asked once, has everything decided, and ends the loop.
final class Once {
    private var awaited: Set<SourceName>
    private var hasAnswer = false
    private var hasFailed = false
    private var isDecided = false
    private unowned let agent: Agent
    private let loop: EventLoop

    /// Waits for these sources. The agent outlives this object.
    init(sources: [SourceName], agent: Agent, loop: EventLoop) {
        awaited = Set(sources)
        self.agent = agent
        self.loop = loop
    }

    /// Takes note of an event that the machine has handled.
    func observe(_ event: Event) {
        switch event {
        case .fetched(let source, let outcome, _):
            if case .failure = outcome {} else { hasAnswer = true }
            awaited.remove(source)
            if awaited.isEmpty { agent.post(.waitEnded) }
        case .recorded(_, let problem):
            if problem != nil { hasFailed = true }
        case .waitEnded:
            // The results of writing the last files come before the next event.
            isDecided = true
            agent.post(.woke)
        case .woke:
            if isDecided, !agent.machine.hasUnfinishedWork { loop.exit(status) }
        case .started, .clockStepped, .hinted, .watched, .signersRead, .warned, .versionRead,
            .disproved,
            .reconfigured, .override,
            .release, .activate, .confirm, .removed, .stateDeleted, .forget, .installed, .drilled:
            break
        }
    }

    private var status: Int32 {
        if hasFailed { return DaemonExitStatus.failure }
        return hasAnswer ? DaemonExitStatus.success : DaemonExitStatus.noAnswer
    }
}
