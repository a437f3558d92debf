import Decision
import EventLoop
import Files
import FlagSources
import JSON
import Support
import Testing

/// A flags file as a source: each fetch ends in one event, and a change is a hint.
@Suite(.timeLimit(.minutes(5))) struct FileSourceTests {
    let folder: TemporaryFolder
    let loop: EventLoop
    let name: SourceName = "app"

    init() throws {
        folder = try TemporaryFolder()
        loop = try EventLoop()
    }

    private final class Inbox {
        var events: [Event] = []
    }

    private func source(maxBody: Int = 1000) -> (FileSource, Inbox) {
        let inbox = Inbox()
        let source = FileSource(
            name: name, path: folder("flags.json"), maxBody: maxBody, loop: loop
        ) { inbox.events.append($0) }
        return (source, inbox)
    }

    @Test func aFetchDeliversTheBodyToTheByte() throws {
        try folder.write(#"{"a": "\u0031"}"#, to: "flags.json")
        let (source, inbox) = source()
        source.fetch(unlessMatching: Validators(etag: "ignored"))
        guard case .fetchEnded(name, .answer(let answer), date: nil, _) = inbox.events.first else {
            Issue.record("\(inbox.events)")
            return
        }
        #expect(inbox.events.count == 1)
        #expect(answer.body == Array(#"{"a": "\u0031"}"#.utf8))
        #expect(answer.flags["a"]?.string == "1")
        #expect(answer.validators == Validators())
    }

    @Test func whatIsNoFileIsUnreachableAndWhatIsNoFlagsIsInvalid() throws {
        let (source, inbox) = source(maxBody: 10)
        for (body, kind) in [
            (nil, Failure.Kind.unreachable), ("", .invalid), ("{", .invalid),
            (#"{"a": "too long"}"#, .invalid),
        ] {
            if let body { try folder.write(body, to: "flags.json") }
            source.fetch(unlessMatching: Validators())
            guard case .fetchEnded(name, .failure(let failure), date: nil, _) = inbox.events.last
            else {
                Issue.record("\(inbox.events)")
                return
            }
            #expect(failure.kind == kind)
        }
    }

    @Test func aChangeIsAHintUntilItIsStopped() throws {
        let (source, inbox) = source()
        source.start()
        try folder.write("{}", to: "flags.json")
        while inbox.events.isEmpty { try loop.runOnce(.seconds(1)) }
        #expect(Set(inbox.events) == [.hinted(name)])
        source.stop()
        inbox.events = []
        try folder.write(#"{"a": 1}"#, to: "flags.json")
        try loop.runOnce(.milliseconds(20))
        #expect(inbox.events == [])
    }

    @Test func theBindingIsThePath() {
        #expect(source().0.fingerprint == "file:\(folder("flags.json"))")
    }
}
