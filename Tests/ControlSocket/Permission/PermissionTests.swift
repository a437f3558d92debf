import ControlSocket
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
