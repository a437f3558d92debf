import CivilTime
import Decision
import Support
import Testing

/// The machine by its transcripts: files of events, and the effects that it answers with.
@Suite(.timeLimit(.minutes(2))) struct TranscriptTests {
    @Test(arguments: TranscriptFile.all(in: "Decision/Transcripts"))
    func theMachineDoesWhatItsTranscriptSays(_ file: TranscriptFile) throws {
        try file.play(TranscribedMachine.self)
    }
}

/// A machine, and the world that its events come from. Besides the events of the machine a transcript has:
///
///     300s hang                     # it is woken at each of its wake-ups before then, and no fetch ends
///     100s clock steps by +600s
///     0s synchronised               # the kernel says so of the wall clock
///     0s APP accepts {…}            # an answer, whose version is stored at once if it has to be
///     10s restarts                  # the daemon, with what was stored; `reboots`: the host
///     5s reconfigured app=same app=other without SHOP with service.shop.time_zone = "Asia/Tokyo"; …
///     9s restarts with service.shop.time_zone = "Asia/Tokyo"
///
/// The fetches that begin while it hangs are left out. `app=same` is a source that another object fetches from now on,
/// from the same address.
struct TranscribedMachine: TranscribedWorld {
    private var head: TranscriptHead
    private var transcript: Transcript

    init(head text: String) throws {
        head = try TranscriptHead(text)
        transcript = try Transcript(
            plan: head.plan, memory: head.memory, start: Zone.utc.rfc3339(head.start),
            place: head.place)
    }

    mutating func play(_ text: String, at seconds: Double) throws -> [String] {
        var line = EventLine(text)
        if line.reads("hang") {
            try line.refuseMore()
            return lines(of: transcript.hang(until: seconds).filter { !$0.isFetch }, after: .woke)
        }
        transcript.wait(until: seconds)
        if line.reads("synchronised") {
            transcript.isSynchronised = true
        } else if line.reads("clock steps by") {
            transcript.step(by: try line.duration())
            return send(.clockStepped, at: seconds)
        } else if line.isBefore("restarts") || line.isBefore("reboots") {
            let isReboot = try line.word() == "reboots"
            transcript.restart(try changedPlan(&line), isReboot: isReboot)
            return send(.started, at: seconds)
        } else if line.reads("reconfigured") {
            return send(try reconfigured(&line), at: seconds)
        } else {
            let accepts = text.contains(" accepts {")
            return send(try Event(&line, at: transcript.now), at: seconds, accepts: accepts)
        }
        try line.refuseMore()
        return []
    }

    private mutating func send(
        _ event: Event, at seconds: Double, accepts: Bool = false
    ) -> [String] {
        var effects = transcript.at(seconds, event)
        for case .storeVersion(let source, _) in effects where accepts {
            effects += transcript.at(seconds, .writeEnded(.storeVersion(source), problem: nil))
        }
        return lines(of: effects, after: event)
    }

    private func lines(of effects: [Effect], after event: Event) -> [String] {
        let shown = effects.filter { if case .sleep = $0 { head.showsSleep } else { true } }
        return TranscriptFormat.lines(of: shown, after: event, since: transcript.now)
    }

    private mutating func reconfigured(_ line: inout EventLine) throws -> Event {
        var replaced: [SourceName: Replacement] = [:]
        while !line.isAtEnd, !line.isBefore("with"), !line.isBefore("without") {
            let words = try line.word().split(separator: "=").map(String.init)
            switch words.last {
            case "same": replaced[try named(words[0])] = .sameAddress
            case "other": replaced[try named(words[0])] = .otherAddress
            default: throw TestFailure("unknown words '\(words)'")
            }
        }
        return .reconfigured(try changedPlan(&line), replaced: replaced)
    }

    /// Reads `without SHOP with service.web.source = "other"; …`, of which each part may be missing.
    private mutating func changedPlan(_ line: inout EventLine) throws -> Plan {
        if line.reads("without") { head.remove(service: try line.word()) }
        let changes = line.reads("with") ? try line.all() : ""
        try line.refuseMore()
        return try head.reload(with: changes.split(separator: "; ").joined(separator: "\n"))
    }
}

extension Effect {
    fileprivate var isFetch: Bool { if case .fetch = self { true } else { false } }
}
