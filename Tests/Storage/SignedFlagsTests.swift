import CivilTime
import Decision
import Files
import Storage
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
        try state.flags(of: "app", mark: folder("mark"), isBound: { _ in true })
    }

    @Test func theSignersOfAnAnswerComeBack() throws {
        let body = Array(
            #"{"version":8,"expires":"2027-03-01T13:00:00Z","audience":["prod","stage"]}"#.utf8)
        let flags = try FlagDocument.parse(body)
        let answer = Answer(
            body: body, flags: flags, fetchedAt: Instant(seconds: 1_800_000_000),
            signed: SignedAnswer(
                try SignedMetadata(flags, digest: [0, 10, 255]), by: ["alice", "bob \"b\""],
                signatures: Array("-----BEGIN SSH SIGNATURE-----\n".utf8)))
        try state.store([answer], of: "app", fingerprint: "here")
        try state.store(version, of: "app")
        let found = try #require(try stored())
        #expect(found.answers == [answer])
        #expect(state.version(of: "app") == .known(version))
    }

    @Test func theHighestVersionStaysWhenTheAnswersAreDropped() throws {
        try state.store(version, of: "app")
        try state.store([], of: "app", fingerprint: "here")
        #expect(try stored() == nil)
        #expect(state.version(of: "app") == .known(version))
        try state.dropVersion(of: "app")
        #expect(state.version(of: "app") == .none)
    }

    /// A crash may leave a copy torn at any byte, and a disk may lose one: the other one counts.
    @Test func aTornCopyNeverLowersTheVersion() throws {
        let app: SourceName = "app"
        let file = folder("flags/app.version")
        try state.reserveVersion(of: app)
        #expect(state.version(of: app) == .none)
        try state.store(version, of: app)
        let old = try File.read(file, limit: 1 << 20)
        let next = AcceptedVersion(number: 9_000, digest: [1, 2, 3])
        try state.store(next, of: app)
        let new = try File.read(file, limit: 1 << 20)
        #expect(old.count == 8192 && new.count == 8192)
        for torn in stride(from: 0, through: 200, by: 1) {
            // The first copy is torn, and the second one is the old one.
            try File.replace(file, with: Array(new[..<torn]) + old[torn...])
            let first = state.version(of: app)
            #expect(first == .known(version) || first == .known(next), "\(torn)")
            // The first copy is new, and the second one is torn: both are on disk when the version counts.
            try File.replace(file, with: Array(new[..<(4096 + torn)]) + old[(4096 + torn)...])
            #expect(state.version(of: app) == .known(next), "\(torn)")
            for place in [torn, 4096 + torn] {
                var decayed = new
                decayed[place] ^= 1
                try File.replace(file, with: decayed)
                #expect(state.version(of: app) == .known(next), "\(place)")
            }
        }
        // A half of each: nobody made this digest.
        var mixed = new
        for place in [0, 4096] { mixed[place + 30] ^= 1 }
        try File.replace(file, with: mixed)
        guard case .unreadable = state.version(of: app) else {
            Issue.record("it counts as \(state.version(of: app))")
            return
        }
    }

    /// The space is reserved once, and stays when the version is deleted.
    @Test func theSpaceOfAVersionStays() throws {
        let file = folder("flags/app.version")
        try state.store(version, of: "app")
        try state.reserveVersion(of: "app")
        #expect(state.version(of: "app") == .known(version))
        let inode = try blocks(file)
        try state.store(AcceptedVersion(number: 9, digest: [1]), of: "app")
        try state.dropVersion(of: "app")
        #expect(state.version(of: "app") == .none)
        #expect(try blocks(file) == inode)
    }

    private func blocks(_ file: String) throws -> String {
        try Program.run("/usr/bin/stat", ["-c", "%i %s %b", file]).output
    }

    /// A version that cannot be read must not count as none: any document would be accepted.
    @Test(arguments: [
        "", "{}", #"{"schema":1,"version":8,"digest":"0"}"#,
        #"{"schema":1,"version":"8","digest":"00"}"#, #"{"schema":1,"version":8,"digest":"0G"}"#,
    ])
    func aVersionThatCannotBeReadIsAnError(text: String) throws {
        try folder.write(text, to: "flags/app.version")
        guard case .unreadable(let cause) = state.version(of: "app") else {
            Issue.record("it counts as \(state.version(of: "app"))")
            return
        }
        #expect(cause.contains("app.version"), "\(cause)")
    }
}
