import ControlSocket
import Files
import JSON
import Support
import Testing

/// Who may act, and under which name.
@Suite struct PermissionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let peer: Peer
        var group: UInt32? = 987
        let mayAct: Bool
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "root", peer: Peer(user: 0, groups: [0]), mayAct: true),
        Case(
            name: "root, and no such group here", peer: Peer(user: 0, groups: [0]), group: nil,
            mayAct: true),
        Case(name: "the daemon's user", peer: Peer(user: 500, groups: [500]), mayAct: true),
        Case(name: "an ordinary user", peer: Peer(user: 1000, groups: [1000, 27]), mayAct: false),
        Case(name: "a member", peer: Peer(user: 1000, groups: [1000, 987]), mayAct: true),
        Case(
            name: "an ordinary user, and no such group here",
            peer: Peer(user: 1000, groups: [1000]), group: nil, mayAct: false),
        Case(
            name: "the group root is not the user root", peer: Peer(user: 1000, groups: [0]),
            mayAct: false),
        Case(
            name: "nobody, as a peer of another user namespace shows",
            peer: Peer(user: 65_534, groups: [65_534]), mayAct: false),
    ]

    @Test(arguments: cases) func rootTheGroupAndTheDaemonsUserMayAct(_ example: Case) {
        let permission = Permission(ownUser: 500, group: example.group)
        #expect(permission.mayAct(example.peer) == example.mayAct)
    }

    private static let accounts = Accounts(
        users: Array(
            "root:x:0:0:root:/root:/bin/bash\nbroken\nalice:x:1000:1000::/:/bin/sh\n".utf8),
        groups: Array("root:x:0:\nkillswitchd:x:987:alice,bob\nwrong:x:many:\n".utf8))

    @Test func usersAndGroupsAreFoundInTheFilesOfTheHost() {
        let accounts = Self.accounts
        #expect(accounts.author(Peer(user: 0, groups: [])) == "root (uid 0)")
        #expect(accounts.author(Peer(user: 1000, groups: [])) == "alice (uid 1000)")
        #expect(accounts.author(Peer(user: 4242, groups: [])) == "uid 4242")
        #expect(accounts.identifier(ofGroup: "killswitchd") == 987)
        #expect(accounts.identifier(ofGroup: "wrong") == nil)
        #expect(accounts.identifier(ofGroup: "kill") == nil)
    }

    @Test func withoutTheFilesNobodyHasANameAndNoGroupCounts() {
        let accounts = Accounts(users: [], groups: [0xFF, 0x3A, 0x3A])
        #expect(accounts.author(Peer(user: 0, groups: [])) == "uid 0")
        #expect(accounts.identifier(ofGroup: "killswitchd") == nil)
    }

    struct Person: Sendable, CustomTestStringConvertible {
        let user: UInt32
        var login: UInt32?
        var sudoUser: String?
        let author: String
        var testDescription: String { author }
    }

    @Test(arguments: [
        Person(user: 0, author: "root (uid 0)"),
        Person(user: 0, login: 0, author: "root (uid 0)"),
        Person(user: 1000, login: 1000, sudoUser: "alice", author: "alice (uid 1000)"),
        Person(user: 0, login: 1000, author: "alice (login uid 1000) as root (uid 0)"),
        Person(
            user: 0, login: 1000, sudoUser: "alice",
            author: "alice (login uid 1000, SUDO_USER) as root (uid 0)"),
        Person(user: 0, sudoUser: "alice", author: "alice (SUDO_USER) as root (uid 0)"),
        Person(
            user: 0, login: 1000, sudoUser: "mallory",
            author: "alice (login uid 1000) as root (uid 0), SUDO_USER mallory"),
        Person(user: 1000, sudoUser: "mallory", author: "alice (uid 1000), SUDO_USER mallory"),
        Person(user: 0, login: 4242, author: "login uid 4242 as root (uid 0)"),
    ]) func anAuthorNamesThePersonAndTheOriginOfEachName(_ person: Person) {
        let peer = Peer(user: person.user, groups: [], login: person.login)
        #expect(Self.accounts.author(peer, sudoUser: person.sudoUser) == person.author)
    }
}

@Suite struct AccessTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    @Test(arguments: [
        "Force", "Release", "Refresh", "Activate", "Reload", "Forget", "Confirm",
    ]) func aMethodThatActsIsRefusedToOtherUsers(_ method: String) throws {
        #expect(throws: MethodError.notPermitted(method)) {
            try asked.perform(method, by: TestDispatcher.anybody)
        }
    }

    @Test func readingIsForEverybody() throws {
        try asked.decide()
        let answer = try #require(try asked.perform("Status", by: TestDispatcher.anybody).answer)
        #expect(answer.states == ["running"])
    }

    @Test func theSourcesAreForEverybodyToo() throws {
        let answer = try #require(try asked.perform("Sources", by: TestDispatcher.anybody).answer)
        #expect(answer["sources"]?.array?.map { $0.object?["name"]?.string } == ["app"])
    }

    @Test func everyMethodIsListedAsReadingOrActing() {
        #expect(
            Interface.methods.map { "\($0.name) \($0.access)" } == [
                "Status reading", "Watch reading", "Sources reading", "Problems reading",
                "Force acting", "Release acting",
                "Refresh acting", "Activate acting", "Reload acting", "Forget acting",
                "Confirm acting", "Explain acting", "Drills reading", "NoteDrill acting",
            ])
    }
}

/// The file of groups is replaced while the daemon runs.
@Suite struct ReplacedGroupFileTests {
    private let member = Peer(user: 1000, groups: [1000, 987])

    /// Writes a file of groups that was changed long ago, as far as it tells.
    private func write(_ group: Int, to path: String) throws {
        try File.replace(path, with: Array("killswitchd:x:\(group):\n".utf8), mode: 0o644)
        let result = try Program.run("/usr/bin/touch", ["-d", "@1", path])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Once members of a group that was given another ID could still act, where the new file had the size and the
    /// time of the old one.
    @Test func aFileOfTheSameSizeAndTimeCountsAtOnce() async throws {
        let folder = try TemporaryFolder()
        let path = folder("group")
        try write(987, to: path)
        let permission = Permission.followingThisProcess(groupFile: path)
        #expect(permission().mayAct(member))
        try await Support.waitUntil("the file has rested") {
            FileStamp(of: path).shows(unchangedSince: FileStamp(of: path))
        }
        #expect(permission().mayAct(member))
        try write(988, to: path)
        #expect(!permission().mayAct(member))
        try write(987, to: path)
        #expect(permission().mayAct(member))
        try File.remove(path)
        #expect(!permission().mayAct(member))
    }
}
