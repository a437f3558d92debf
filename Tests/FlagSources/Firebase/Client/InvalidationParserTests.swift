import CivilTime
import Decision
import EventLoop
import FlagSources
import HTTP
import JSON
import Support
import Testing

/// The stream of invalidations, in parts of any size.
@Suite(.timeLimit(.minutes(5))) struct InvalidationParserTests {
    private func read(_ parts: [[UInt8]]) -> (update: StreamUpdate, versions: [Int64]) {
        var versions: [Int64] = []
        var parser = InvalidationParser { version in
            versions.append(version)
            return true
        }
        var update = StreamUpdate()
        for part in parts { parser.parse(part, &update) }
        parser.finish(&update)
        return (update, versions)
    }

    private static let stream = Array(
        #"""
        [{"latestTemplateVersionNumber": "8", "note": "a \"}\" { in ünï\\"}
        ,{"latestTemplateVersionNumber":9,"retryIntervalSeconds":15},{"nested": {"a": {}}}]
        """#.utf8)

    @Test func aStreamThatIsCutAtAnyByteIsParsedTheSame() {
        let whole = read([Self.stream])
        #expect(whole.versions == [8, 9])
        #expect(whole.update.retryAfter == .seconds(15))
        #expect(whole.update.isHint && whole.update.failure == nil)
        for cut in 0...Self.stream.count {
            let parts = [Array(Self.stream[..<cut]), Array(Self.stream[cut...])]
            let (update, versions) = read(parts)
            #expect(update == whole.update && versions == whole.versions, "cut at \(cut)")
        }
        let bytes = read(Self.stream.map { [$0] })
        #expect(bytes.update == whole.update && bytes.versions == whole.versions)
    }

    @Test func aTruncatedStreamYieldsOnlyWholeVersions() {
        for cut in 0..<Self.stream.count {
            let (update, versions) = read([Array(Self.stream[..<cut])])
            #expect([[], [8], [8, 9]].contains(versions))
            #expect(update.failure == nil)
        }
    }

    @Test(
        arguments: [
            (#"[{"featureDisabled": true}"#, "the service has switched its stream off"),
            (#"[{"featureDisabled": false}"#, nil),
            ("<!DOCTYPE html>", "the stream is not JSON"),
            ("[{]}", "an object of the stream is not JSON"),
            (#"[{"a": 1, "a": 2}"#, "an object of the stream is not JSON"),
            (
                #"[{"error": {"status": "UNAVAILABLE", "message": "Later."}}"#,
                "the stream ends with an error: UNAVAILABLE: Later."
            ),
            (
                #"[{"a": ""# + String(repeating: "x", count: 70_000),
                "an object of the stream is too long"
            ),
            (String(repeating: "[ ,\n", count: 10_000), nil),
            (#"[{"latestTemplateVersionNumber": "soon"}"#, nil),
            (#"[{"latestTemplateVersionNumber": 1e400}"#, nil),
        ] as [(String, String?)])
    func whatIsNoInvalidationIsNoHint(text: String, failure: String?) {
        let (update, versions) = read([Array(text.utf8)])
        #expect(update.failure?.detail == failure)
        #expect(versions == [] && !update.isHint)
    }

    /// Each connection is cut one byte later than the connection before, until a whole message arrives.
    @Test func aStreamThatTheServerCutsAtEveryByteIsFollowedToTheEnd() async throws {
        let server = try await FirebaseServer()
        try server.publish(client: ["service_end": "no"], version: 12)
        try await server.behave("realtime-cut")
        let loop = try EventLoop()
        let client = try HTTPClient(loop)
        let fid = "cAAAAAAAAAAAAAAAAAAAAA"
        let headers = [
            Header("Content-Type", "application/json"), Header("X-Goog-Api-Key", "AIza-demo"),
        ]
        let token = try register(fid, at: server, client, loop, headers)
        let body = #"{"appInstanceId": "\#(fid)", "lastKnownVersionNumber": "7"}"#
        var versions: [Int64] = []
        var problems: Set<String> = []
        let context = SourceDependencies.ofTests("app", client, loop) { event in
            if case .watchChanged(_, let problem?) = event { problems.insert(problem) }
        }
        var stream: FlagSources.Stream<InvalidationParser>?
        stream = try FlagSources.Stream(
            for: context,
            StreamPolicy(
                silence: .seconds(20), firstWait: .milliseconds(2), longestWait: .milliseconds(4)),
            parser: {
                InvalidationParser { version in
                    versions.append(version)
                    return true
                }
            },
            request: {
                HTTPRequest(
                    url: "\(server.url)/v1/projects/demo/namespaces/firebase"
                        + ":streamFetchInvalidations",
                    headers: headers + [Header("X-Goog-Firebase-Installations-Auth", token)],
                    body: Array(body.utf8))
            })
        stream?.start()
        while versions.count < 3 { try loop.runOnce(.milliseconds(20)) }
        stream = nil
        #expect(Set(versions) == [12])
        let connections = try server.requests(to: ":streamFetchInvalidations").count
        #expect(connections > #"[{"latestTemplateVersionNumber": "12"}"#.utf8.count)
        #expect(
            problems.allSatisfy { $0.contains("broken") || $0.contains("ended") }, "\(problems)")
    }

    private func register(
        _ fid: String, at server: FirebaseServer, _ client: HTTPClient, _ loop: EventLoop,
        _ headers: [Header]
    ) throws -> String {
        let app = "1:1234567:web:abcdef0123456789"
        let body = #"{"fid":"\#(fid)","authVersion":"FIS_v2","appId":"\#(app)","sdkVersion":"w:0"}"#
        let transfer = try HTTPTransfer(client)
        var text: String?
        let request = HTTPRequest(
            url: "\(server.url)/v1/projects/demo/installations", headers: headers,
            body: Array(body.utf8))
        try transfer.send(PreparedRequest(request)) { result in
            if case .success(let response) = result {
                text = String(decoding: response.body, as: UTF8.self)
            }
        }
        while text == nil { try loop.runOnce(.milliseconds(20)) }
        let parts = try #require(text).split(separator: #""token": ""#)
        return String(try #require(parts.last).prefix { $0 != "\"" })
    }
}
