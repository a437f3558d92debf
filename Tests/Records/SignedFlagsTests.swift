import CivilTime
import Decision
import Files
import Records
import Support
import Testing

/// Signed flags and their highest version in the state directory.
@Suite struct SignedFlagsTests {
    private let folder: TemporaryFolder
    private let state: StateDirectory
    private let version = AcceptedVersion(number: 8, digest: [0, 10, 255])

    init() throws {
        folder = try TemporaryFolder()
        state = StateDirectory(path: folder.path)
        try state.prepare()
    }

    private func stored() throws -> Memory.StoredFlags? {
        try state.flags(of: try named("app"), mark: folder("mark"), isBound: { _ in true })
    }

    @Test func theSignersOfAnAnswerComeBack() throws {
        let body = Array(
            #"{"version":8,"expires":"2027-03-01T13:00:00Z","audience":["prod","stage"]}"#.utf8)
        let flags = try FlagDocument.parse(body)
        let answer = Answer(
            body: body, flags: flags, fetchedAt: Instant(seconds: 1_800_000_000),
            signed: SignedAnswer(
                try SignedOrder(flags, digest: [0, 10, 255]), by: ["alice", "bob \"b\""],
                signatures: Array("-----BEGIN SSH SIGNATURE-----\n".utf8)))
        try state.store([answer], of: try named("app"), binding: "here")
        try state.store(version, of: try named("app"))
        let found = try #require(try stored())
        #expect(found.answers == [answer])
        #expect(state.version(of: try named("app")) == .known(version))
    }

    @Test func theHighestVersionStaysWhenTheAnswersAreDropped() throws {
        try state.store(version, of: try named("app"))
        try state.store([], of: try named("app"), binding: "here")
        #expect(try stored() == nil)
        #expect(state.version(of: try named("app")) == .known(version))
        try state.dropVersion(of: try named("app"))
        #expect(state.version(of: try named("app")) == .none)
    }

    /// A version that cannot be read must not count as none: any document would be accepted.
    @Test(arguments: [
        "", "{}", #"{"schema":1,"version":8,"digest":"0"}"#,
        #"{"schema":1,"version":"8","digest":"00"}"#, #"{"schema":1,"version":8,"digest":"0G"}"#,
    ])
    func aVersionThatCannotBeReadIsAnError(text: String) throws {
        try folder.write(text, to: "flags/app.version")
        guard case .unreadable(let cause) = state.version(of: try named("app")) else {
            Issue.record("it counts as \(state.version(of: try named("app")))")
            return
        }
        #expect(cause.contains("app.version"), "\(cause)")
    }
}
