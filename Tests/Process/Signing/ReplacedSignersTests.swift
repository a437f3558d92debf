import Files
import Support
import Testing

/// A signer is replaced in the list by somebody else, and the new list has the size and the time of the old one: so
/// ostree, Nix and `rsync -t` write files.
@Suite(.timeLimit(.minutes(5))) struct ReplacedSignersTests {
    enum Replacement: String, CaseIterable {
        case renamed, inPlace, link, directory
    }

    @Test(arguments: Replacement.allCases)
    func aSignerWhoWasReplacedGivesNoOrder(_ replacement: Replacement) async throws {
        let fleet = try Fleet(keys: ["ed25519", "ed25519"])
        let (daemon, folder) = (fleet.daemon, fleet.daemon.folder)
        let lists = [
            "alice \(try fleet.alice.publicText)\nbob \(try fleet.bob.publicText)\n",
            "alice \(try fleet.alice.publicText)\neve \(try fleet.mallory.publicText)\n",
        ]
        #expect(lists[0].utf8.count == lists[1].utf8.count)
        let run = { (command: String) in try shell("cd '\(folder.path)' && \(command)") }
        try run("mkdir 0 1 && rm allowed_signers")
        for (number, list) in lists.enumerated() {
            try folder.write(list, to: "\(number)/allowed_signers")
            try run("touch -d @1 \(number)/allowed_signers")
        }
        switch replacement {
        case .renamed, .inPlace: try run("cp -p 0/allowed_signers .")
        case .link: try run("ln -s 0/allowed_signers .")
        case .directory: try run("ln -s 0 present && ln -s present/allowed_signers .")
        }
        try fleet.publish("no", version: 1, by: fleet.bob)
        try await daemon.start(awaitingReason: "flags")
        // The daemon has read a list that nobody has touched for a while.
        let list = folder("allowed_signers")
        try await Support.waitUntil("the list has rested") {
            FileStamp(of: list).shows(unchangedSince: FileStamp(of: list))
        }
        #expect(try daemon.control("refresh", "app").status == 0)
        switch replacement {
        case .renamed: try run("cp -p 1/allowed_signers new && mv new allowed_signers")
        case .inPlace:
            try run("cat 1/allowed_signers > allowed_signers && touch -d @1 allowed_signers")
        case .link: try run("ln -s 1/allowed_signers new && mv -T new allowed_signers")
        case .directory: try run("ln -s 1 new && mv -T new present")
        }
        try fleet.publish("yes", version: 2, by: fleet.bob)
        try await daemon.awaitLine("'signer-not-listed'")
        #expect(try daemon.member("state") == #""running""#)
        try await fleet.publish("yes", version: 2, by: fleet.mallory, awaiting: "ended")
        #expect(try daemon.member("author") == #"["eve"]"#)
    }
}
