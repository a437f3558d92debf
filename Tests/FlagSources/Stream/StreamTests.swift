import CivilTime
import Decision
import EventLoop
import FlagSources
import HTTP
import Requests
import Support
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamTests {
    /// Each line is a hint.
    private struct LineParser: StreamParser {
        mutating func parse(_ bytes: [UInt8], _ update: inout StreamUpdate) {
            if bytes.contains(UInt8(ascii: "\n")) { update.isHint = true }
        }
    }

    /// A server, a loop with one stream of it, and the events that the stream delivers.
    private final class Scene {
        let server: FlagServer
        let loop: EventLoop
        let name: SourceName = "app"
        private let client: HTTPClient
        private(set) var stream: Stream<LineParser>?
        private(set) var events: [Event] = []

        init(
            _ behaviour: String, opening: Duration = .seconds(60), silence: Duration = .seconds(60),
            firstWait: Duration = .milliseconds(10), longestWait: Duration = .milliseconds(50)
        ) async throws {
            let server = try await FlagServer()
            self.server = server
            try await server.behave(behaviour)
            loop = try EventLoop()
            client = try HTTPClient(loop)
            let policy = StreamPolicy(
                opening: opening, silence: silence, firstWait: firstWait, longestWait: longestWait)
            let context = SourceDependencies.ofTests(name, client, loop) { [unowned self] in
                events.append($0)
            }
            stream = try Stream(
                for: context, policy, parser: { LineParser() },
                request: { HTTPRequest(url: "http://127.0.0.1:\(server.port)/stream") })
            stream?.start()
        }

        var hints: Int { events.count { $0 == .hinted(name) } }

        var problems: [String] {
            events.compactMap { event in
                if case .watchChanged(name, let problem?) = event { problem } else { nil }
            }
        }

        /// Runs the loop until the condition holds, for at most two minutes.
        func run(until condition: () throws -> Bool) throws {
            let deadline = loop.now.boot + longestWait
            while try !condition() {
                guard loop.now.boot < deadline else { throw TestFailure("\(events)") }
                try loop.runOnce(.milliseconds(10))
            }
        }

        func stop() {
            stream = nil
            events = []
        }
    }

    @Test func eachLineIsAHintUntilTheStreamIsDropped() async throws {
        let scene = try await Scene("stream-lines")
        try scene.run { scene.hints > 20 }
        #expect(try scene.server.requests.count == 1)
        #expect(try scene.server.requests.first?.headers["accept-encoding"] == nil)
        scene.stop()
        for _ in 0..<5 { try scene.loop.runOnce(.milliseconds(10)) }
        #expect(scene.events == [])
    }

    @Test func aServerThatEndsTheStreamIsAskedAgainUntilThereIsOne() async throws {
        let scene = try await Scene("stream-quiet")
        try scene.run { scene.hints > 0 }
        try await scene.server.behave("503")
        try scene.run { try scene.server.requests.count > 5 }
        #expect(scene.problems == ["the server answers 503 (unavailable)"])
        let before = scene.hints
        try await scene.server.behave("stream-quiet")
        try scene.run { scene.hints > before }
    }

    @Test func afterAPollThatFailedTheNextThatSucceedsOpensTheStreamAtOnce() async throws {
        let never: Duration = .seconds(36_000_000)
        let scene = try await Scene("503", firstWait: never, longestWait: never)
        try scene.run { try scene.server.requests.count == 1 }
        for _ in 0..<5 { try scene.loop.runOnce(.milliseconds(10)) }
        try await scene.server.behave("stream-quiet")
        scene.stream?.pollSucceeded()
        for _ in 0..<5 { try scene.loop.runOnce(.milliseconds(10)) }
        #expect(try scene.server.requests.count == 1)
        scene.stream?.pollFailed(Failure(.unreachable, "cannot connect"))
        scene.stream?.pollSucceeded()
        try scene.run { scene.hints > 0 }
    }

    @Test func aStreamFromWhichNothingComesIsOpenedAnew() async throws {
        let scene = try await Scene("stream-quiet", silence: .milliseconds(100))
        try scene.run { try scene.server.requests.count > 3 }
        #expect(scene.problems == ["the stream was silent for 0.1 seconds"])
    }

    @Test func aServerThatDoesNotAnswerIsAskedAgain() async throws {
        let scene = try await Scene("silence", opening: .milliseconds(100))
        try scene.run { try scene.server.requests.count > 3 }
        #expect(scene.problems == ["no answer within 0.1 seconds"])
    }

    @Test func anEndlessStreamIsGivenUpAndOpenedAgain() async throws {
        let scene = try await Scene("stream-flood")
        try scene.run { try scene.server.requests.count > 4 }
        #expect(
            scene.problems == [
                "the stream brings more than \(StreamMachine.floodLimit) bytes in a minute"
            ])
    }

    @Test(arguments: [
        ("stream-gzip", "the answer is encoded as 'gzip', which is not accepted"),
        ("redirect-once", "the server answers 302"),
        ("401", "the server answers 401 (unauthorized)"),
        ("headers", "the headers are larger than 65536 bytes"),
    ])
    func aResponseThatIsNoStreamIsReported(_ behaviour: String, _ problem: String) async throws {
        let scene = try await Scene(behaviour)
        try scene.run { !scene.problems.isEmpty }
        #expect(scene.problems == [problem])
        #expect(scene.hints == 0)
    }

    @Test func aRequestThatCannotBeMadeIsReportedAndRetried() throws {
        struct NoCredential: Error, CustomStringConvertible {
            let description = "no credential"
        }
        let loop = try EventLoop()
        var attempts = 0
        var events: [Event] = []
        let context = SourceDependencies.ofTests("app", try HTTPClient(loop), loop) {
            events.append($0)
        }
        let stream = try Stream(
            for: context,
            StreamPolicy(
                silence: .seconds(1), firstWait: .milliseconds(1), longestWait: .milliseconds(1)),
            parser: { LineParser() },
            request: {
                attempts += 1
                throw NoCredential()
            })
        stream.start()
        while attempts < 5 { try loop.runOnce(.milliseconds(10)) }
        #expect(events == [.watchChanged("app", problem: "no credential")])
    }
}

extension HostEnvironment {
    static let ofTests = HostEnvironment(
        credentialsDirectory: nil, user: 0, userAgent: "killswitchd", stateDirectory: "")
}

extension SourceDependencies {
    /// The context of a source that is polled each millisecond.
    static func ofTests(
        _ name: SourceName, _ client: HTTPClient, _ loop: EventLoop,
        environment: HostEnvironment = .ofTests, deliver: @escaping Deliver
    ) -> SourceDependencies {
        SourceDependencies(
            name: name, interval: .milliseconds(1), environment: environment, client: client,
            loop: loop, deliver: deliver)
    }
}

extension StreamParser {
    /// The news in the whole of a stream that comes in parts of this size.
    mutating func update(from bytes: [UInt8], inPartsOf size: Int) -> StreamUpdate {
        var update = StreamUpdate()
        for start in stride(from: 0, to: bytes.count, by: size) {
            parse(Array(bytes[start...].prefix(size)), &update)
        }
        finish(&update)
        return update
    }
}
