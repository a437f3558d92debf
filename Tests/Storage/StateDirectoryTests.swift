import CivilTime
import Decision
import Files
import JSON
import Storage
import Support
import Testing

@Suite struct StateDirectoryTests {
    let folder: TemporaryFolder
    let directory: StateDirectory
    let app: SourceName = "app"

    init() throws {
        folder = try TemporaryFolder()
        directory = StateDirectory(path: folder.path)
        try directory.prepare()
    }

    private func answer(_ body: String, etag: String? = nil) throws -> Answer {
        let bytes = Array(body.utf8)
        return Answer(
            body: bytes, flags: try FlagDocument.parse(bytes), validators: Validators(etag: etag),
            version: .ofAll("7"), fetchedAt: try Instant(rfc3339: "2026-01-01T12:00:00Z"))
    }

    private func stored(fingerprint: String = "b", mark: String = "/nonexistent") throws
        -> Memory.StoredFlags?
    {
        try directory.flags(of: app, mark: mark) { $0 == fingerprint }.get()
    }

    @Test func answersComeBackToTheByteWithTheirValidators() throws {
        let answers = [
            try answer("{\"a\":\t\"\\u00e9 \u{1F600}\"}\n", etag: "\"x\""), try answer("{ }"),
        ]
        try directory.store(answers, of: app, fingerprint: "b")
        let kept = try #require(try stored())
        #expect(kept.answers == answers)
    }

    @Test func unreadableFlagsComeBack() throws {
        var first = try answer(#"{"é": null}"#)
        first.unreadable.causes[ExactString("é")] = "is given more than once"
        var second = try answer("{}")
        second.unreadable.unlisted = "is missing"
        try directory.store([first, second], of: app, fingerprint: "b")
        #expect(try #require(try stored()).answers == [first, second])
    }

    /// Inherited flags stay in force until the new address gives flags. Their validators are dropped,
    /// because they came from another address.
    @Test func answersOfAnotherBindingAreInherited() throws {
        let answer = try answer("{}", etag: "\"x\"")
        try directory.store([answer], of: app, fingerprint: "b")
        var inherited = answer
        inherited.inherit()
        #expect(inherited.isInherited && inherited.validators == Validators())
        let kept = try #require(try stored(fingerprint: "c"))
        #expect(kept.answers == [inherited])
        // Stored beside an answer of the new address, they are still inherited.
        try directory.store([answer, inherited], of: app, fingerprint: "c")
        let both = try #require(try stored(fingerprint: "c"))
        #expect(both.answers == [answer, inherited])
    }

    /// Root reads what the daemon's user has written: 512 MiB were read, and links were followed.
    @Test func aForeignDirectoryIsReadWithinBoundsAndLinksAreNotFollowed() throws {
        try directory.store([try answer("{}")], of: app, fingerprint: "b")
        let foreign = StateDirectory(path: folder.path, isForeign: true)
        let read = { try foreign.flags(of: app, mark: "/nonexistent") { _ in true }.get() }
        #expect(try read()?.answers.count == 1)
        try Program.run("/usr/bin/truncate", ["--size=300M", folder("flags/app.json")]).expect(0)
        #expect(throws: (any Error).self) { try read() }
        let secret = try TemporaryFolder()
        try secret.write(#"{"schema": 1, "files": []}"#, to: "secret")
        try folder.link(secret("secret"), as: "configuration.json")
        let problem = #expect(throws: (any Error).self) { try foreign.keptConfiguration() }
        #expect("\(try #require(problem))".contains("too many levels of symbolic links"))
    }

    /// Deleted by somebody else: files that were never written, were removed, or are of a source that is no longer
    /// followed are not missing.
    @Test func whatSomebodyDeletesIsMissing() throws {
        try directory.store([try answer("{}")], of: app, fingerprint: "b")
        try directory.reserveVersion(of: app)
        try directory.store([:])
        #expect(directory.missing().isEmpty)
        try Program.succeed("/bin/sh", ["-c", "rm -r \(folder.path)/*"])
        let flags = Set([folder("flags/app.json"), folder("flags/app.version")])
        #expect(directory.missing() == flags.union([folder("overrides.json")]))
        try directory.store([:])
        #expect(directory.missing() == flags)
        directory.abandon(app)
        #expect(directory.missing().isEmpty)
    }

    @Test func nothingStoredIsNoError() throws {
        #expect(try stored() == nil)
    }

    @Test(arguments: [
        "", "{}", "nonsense", #"{"schema": 2, "binding": "b", "answers": []}"#,
        #"{"schema": 1, "binding": "b"}"#,
        #"{"schema": 1, "binding": "b", "answers": [{"body": "{}"}]}"#,
        #"{"schema": 1, "binding": "b", "answers": [{"size": 6}]}"# + "\n<html>\n",
        #"{"schema": 1, "binding": "b", "answers": [{"size": 2, "fetched_at": "soon"}]}"#
            + "\n{}\n",
        #"{"schema": 1, "binding": "b", "answers": [{"size": -1}]}"# + "\n{}\n",
        // A file that was cut off: the last body lacks its line end, or more.
        Self.header(size: 2) + "{}", Self.header(size: 2) + "{", Self.header(size: 2),
        Self.header(size: Int.max) + "{}\n",
    ])
    func unreadableFlagsAreReported(_ text: String) throws {
        try folder.write(text, to: "flags/app.json")
        let error = #expect(throws: UnreadableContent.self) { try stored() }
        #expect(error?.description.hasPrefix("read '\(folder("flags/app.json"))': ") == true)
    }

    private static func header(size: Int) -> String {
        #"{"schema": 1, "binding": "b", "answers": [{"size": \#(size), "etag": null, "confirmed_at": null, "#
            + #""fetched_at": "2026-01-01T12:00:00Z"}]}"# + "\n"
    }

    @Test func theLatestConfirmationCountsInWhicheverFileItIs() throws {
        try directory.store([try answer("{}")], of: app, fingerprint: "b")
        try File.touch(folder("source.app"))
        let kept = try #require(try stored(mark: folder("source.app")))
        let mark = try File.modificationTime(of: folder("source.app"))
        #expect(kept.confirmedAt == Instant(microseconds: mark))
    }

    @Test func theLedgerComesBack() throws {
        let since = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        var entry = Ledger.Entry(
            state: .updateRequired, since: since, generation: 41, bootID: "b-1")
        entry.closing = Closing(cause: Boottime(microseconds: -7), at: Boottime(microseconds: 9))
        entry.announced = [
            Announcement(from: since + .seconds(60)): since,
            Announcement(from: since, until: since + .seconds(60)): since,
        ]
        entry.published = [
            Announcement(from: since + .microseconds(1)): [.seconds(60), .milliseconds(1500)],
            Announcement(from: since, until: since + .seconds(60)): [],
        ]
        entry.turn = Boottime(microseconds: 250_001)
        entry.drainsUntil = Boottime(microseconds: 20_000_000)
        entry.passed = ["app": since + .microseconds(1), "other": since]
        let ledger = Ledger(entries: ["shop": entry])
        try directory.store(ledger)
        let restored = try #require(try directory.ledger().get())
        #expect(restored == ledger)
    }

    @Test(arguments: [
        "", "[]", #"{"schema": 1}"#,
        #"{"schema": 1, "services": {"shop": {"state": "open"}}}"#,
        // The next change would overflow such a generation.
        Self.ledger(generation: "9223372036854775807"),
        Self.ledger(generation: "9223372036854775806"),
        Self.ledger(generation: "9007199254740993"), Self.ledger(generation: "1e300"),
        Self.ledger(generation: "-1"), Self.ledger(generation: "1.5"),
        #"{"schema": 1, "services": {"../x": {}}}"#,
    ])
    func anUnreadableLedgerIsReported(_ text: String) throws {
        try folder.write(text, to: "services.json")
        #expect(throws: UnreadableContent.self) { try directory.ledger().get() }
    }

    private static func ledger(generation: String) -> String {
        #"{"schema": 1, "services": {"shop": {"state": "running", "boot_id": "b-1", "#
            + #""since": "2027-03-01T12:00:00Z", "generation": \#(generation)}}}"#
    }

    @Test func theHighestGenerationComesBackAndCanBeIncremented() throws {
        try folder.write(Self.ledger(generation: "9007199254740992"), to: "services.json")
        let ledger = try #require(try directory.ledger().get())
        #expect(ledger.entries["shop"]?.generation == 1 << 53)
    }

    @Test(arguments: ["2027-03-01T14:00:00Z", nil]) func overridesComeBack(_ end: String?) throws {
        let override = try #require(
            Override(
                state: .maintenance, cause: "disk \"swap\"", author: "root",
                since: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
                until: try end.map { try Instant(rfc3339: $0) }))
        try directory.store(["shop": override])
        let kept = try #require(try directory.overrides().get())
        #expect(kept == ["shop": override])
    }

    @Test(arguments: [
        "", "[]", #"{"schema":2,"services":{}}"#, #"{"schema":1,"services":{"A":{}}}"#,
        #"{"schema":1,"services":{"shop":{"state":"undecided","reason":"","author":"","since":"2027-03-01T12:00:00Z","until":"2027-03-01T12:00:00Z"}}}"#,
    ])
    func unreadableOverridesAreReported(_ text: String) throws {
        try folder.write(text, to: "overrides.json")
        #expect(throws: UnreadableContent.self) { try directory.overrides().get() }
    }
}

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
        try state.flags(of: "app", mark: folder("mark"), isBound: { _ in true }).get()
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
