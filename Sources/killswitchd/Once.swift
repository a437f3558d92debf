import Decision
import Drivers
import EventLoop

/// `--once`: waits until each source was asked once, has everything decided, and ends the loop.
final class Once {
    private var awaited: Set<SourceName>
    private var hasAnswer = false
    private var hasFailed = false
    private var isDecided = false
    private unowned let decisionDriver: DecisionDriver
    private let loop: EventLoop

    /// Waits for these sources. The driver of decisions outlives this object.
    init(sources: [SourceName], decisionDriver: DecisionDriver, loop: EventLoop) {
        awaited = Set(sources)
        self.decisionDriver = decisionDriver
        self.loop = loop
    }

    /// Takes note of an event that the machine has handled.
    func observe(_ event: Event) {
        switch event {
        case .fetchEnded(let source, let outcome, _, _):
            if case .failure = outcome {} else { hasAnswer = true }
            awaited.remove(source)
            if awaited.isEmpty { decisionDriver.post(.startupWaitEnded) }
        case .writeEnded(_, let problem): if problem != nil { hasFailed = true }
        case .startupWaitEnded: isDecided = true
        case .started, .woke, .clockStepped, .hinted, .watchChanged, .signersRead, .warningsChanged,
            .versionRead, .memoryRead, .disproved, .reconfigured, .force, .release, .activate,
            .confirm,
            .filesDeleted, .stateDeleted, .guardAnswered, .forget, .versionInstalled, .drillEnded:
            break
        }
    }

    /// All files are written, or could not be.
    func queueDrained() {
        if isDecided { loop.exit(status) }
    }

    private var status: Int32 {
        if hasFailed { return DaemonExitStatus.failure }
        return hasAnswer ? DaemonExitStatus.success : DaemonExitStatus.noAnswer
    }
}
