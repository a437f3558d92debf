import Agent
import Decision
import EventLoop

/// `--once`: waits until each source has been asked once, has everything decided, and ends the loop.
final class Once {
    private var awaited: Set<SourceName>
    private var hasAnswer = false
    private unowned let agent: Agent
    private let loop: EventLoop

    init(sources: [SourceName], agent: Agent, loop: EventLoop) {
        awaited = Set(sources)
        self.agent = agent
        self.loop = loop
    }

    func observe(_ event: Event) {
        switch event {
        case .fetched(let source, let outcome, _):
            if case .failure = outcome {} else { hasAnswer = true }
            awaited.remove(source)
            if awaited.isEmpty { agent.post(.patienceEnded) }
        case .patienceEnded:
            loop.exit(hasAnswer ? ExitStatus.success : ExitStatus.noAnswer)
        case .started, .woke, .clockStepped, .hinted, .recorded:
            break
        }
    }
}
