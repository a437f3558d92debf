import Files
import Support
import Testing

/// A list of signers that cannot be used is a problem on every surface at once. A host without one goes on
/// by the last good flags, all green, and is deaf to the next order.
@Suite(.timeLimit(.minutes(5))) struct SignerListTests {
    /// What is done to the list, and the words of the problem that it is.
    struct Damage: CustomTestStringConvertible, Sendable {
        let name: String
        let words: String
        let act: @Sendable (Fleet) throws -> Void

        var testDescription: String { name }
    }

    static let damages = [
        Damage(name: "a line of rubbish", words: "/allowed_signers': line 2: the key is missing") {
            try $0.list(["alice \($0.alice.publicText)", "rubbish"])
        },
        Damage(name: "a missing file", words: "/allowed_signers': no such file or directory") {
            try File.remove($0.daemon.folder("allowed_signers"))
        },
        Damage(name: "a file that others may write", words: "its mode 666 lets others write it") {
            try shell("chmod 666 \($0.daemon.folder("allowed_signers"))")
        },
    ]

    private static let consequence = "the list of signers cannot be used, so no new document counts"

    private func fleet() throws -> Fleet {
        // A source that is polled once a day: nothing but the change itself tells the daemon.
        let fleet = try Fleet(Fleet.configuration(source: #"interval = "24h""#))
        try fleet.publish("no", version: 8, by: fleet.alice)
        return fleet
    }

    /// Expects the problem on each surface, or none.
    private func expectProblem(_ words: String?, on daemon: Daemon) throws {
        for surface in [
            ["status", "--check"], ["status"], ["refresh"], ["reload"], ["explain", "shop"],
        ] {
            let result = try daemon.control(surface)
            let text = "\(surface): \(result.output)\(result.errors)"
            #expect(result.output.contains(Self.consequence) == (words != nil), "\(text)")
            if let words { #expect(result.output.contains(words), "\(text)") }
            let isQuestion = surface == ["status"] || surface[0] == "explain"
            #expect(result.status == (words == nil || isQuestion ? 0 : 1), "\(text)")
        }
    }

    @Test(arguments: damages) func aListThatCannotBeUsedIsAProblemAtOnce(_ damage: Damage)
        async throws
    {
        let fleet = try fleet()
        let daemon = fleet.daemon
        try await daemon.start(awaitingReason: "flags")
        try expectProblem(nil, on: daemon)
        try damage.act(fleet)
        try await daemon.awaitUntil("status --check tells it") {
            try daemon.control("status", "--check").status == 1
        }
        try expectProblem(damage.words, on: daemon)
        #expect(try daemon.member("state") == #""running""#)
        try await daemon.awaitUntil("the metrics tell it") {
            try File.exists(daemon.folder("run/metrics.prom"))
                && daemon.folder.text(of: "run/metrics.prom")
                    .contains(#"killswitch_problems{kind="signers-unreadable"} 1"#)
        }
        // And from the start, though the stored flags are good.
        try daemon.stop()
        try daemon.start()
        try await daemon.awaitUntil("it is told at the start") {
            try daemon.control("status", "--check").output.contains(Self.consequence)
        }
        try expectProblem(damage.words, on: daemon)
        try? File.remove(daemon.folder("allowed_signers"))
        try fleet.list("alice")
        try await daemon.awaitUntil("all is well again") {
            try daemon.control("status", "--check").status == 0
        }
        try expectProblem(nil, on: daemon)
    }

    /// No line of a list counts that has one which cannot be read: that line may say that two of the others
    /// are one person.
    @Test func noLineOfABrokenListCounts() async throws {
        let fleet = try fleet()
        try await fleet.daemon.start(awaitingReason: "flags")
        try fleet.list(["alice \(fleet.alice.publicText)", "rubbish"])
        try await fleet.publish(
            "yes", version: 9, by: fleet.alice, awaitingReason: "signers-unreadable",
            state: "running")
        try fleet.list("alice")
        try await fleet.daemon.awaitState("ended")
    }

    /// The reply of `refresh`, when inotify was first: the document was refused already.
    @Test func refreshTellsWhatWasReadOrRefusedBefore() async throws {
        let fleet = try fleet()
        let daemon = fleet.daemon
        try await daemon.start(awaitingReason: "flags")
        try fleet.publish("no", version: 9, by: fleet.alice)
        try await daemon.awaitUntil("version 9 is read") {
            try daemon.member("version") == "9" || daemon.member("version") == #""9""#
        }
        try daemon.control("refresh", "app").expect(0, output: "source 'app': already read ")
        let other = Fleet.document("yes", version: 10, audience: "staging")
        try await fleet.publish(
            fleet.signed(other, by: [fleet.alice]), awaitingReason: "other-audience")
        for _ in 1...2 {
            let refused = try daemon.control("refresh", "app")
            #expect(
                refused.output.hasPrefix(
                    "source 'app': REFUSED: it is for 'staging', this host is 'prod'; the last good "
                        + "flags stay in force\n"), "\(refused.output)")
            #expect(refused.status == 1)
        }
        try fleet.publish("no", version: 11, by: fleet.alice)
        let next = try daemon.control("refresh", "app")
        #expect(next.status == 0, "\(next.output)")
        #expect(!next.output.contains("unchanged"), "\(next.output)")
    }

    /// A document that one of two people has signed is no failure.
    @Test func refreshTellsWhatWaits() async throws {
        let fleet = try Fleet(
            Fleet.configuration(
                service: "signatures_to_close = 2", source: #"interval = "24h""#))
        try fleet.publish("no", version: 8, by: fleet.alice)
        try await fleet.daemon.start(awaitingReason: "flags")
        try await fleet.publish(
            "yes", version: 9, by: fleet.alice, awaitingReason: "awaiting-signature")
        let waiting = try fleet.daemon.control("refresh")
        #expect(waiting.status == 0, "\(waiting.output)")
        #expect(
            waiting.output.hasPrefix("source 'app': read; it changes nothing yet\n"),
            "\(waiting.output)")
        #expect(
            waiting.output.contains(
                "source 'app' asks to close the gate; signed by 'alice'; one more signature is needed"
            ),
            "\(waiting.output)")
    }

    /// An unsigned answer that no service can read is refused as well.
    @Test func refreshFailsForAnAnswerThatNoServiceCanRead() async throws {
        let daemon = try await Daemon().start(awaitingReason: "flags")
        try daemon.folder.write(#"{"service_end": 5}"#, to: "flags.json")
        try await daemon.awaitReason("invalid-answer")
        try daemon.control("refresh").expect(
            1, output: "source 'shop': REFUSED: ", "key 'service_end' is a number")
        try daemon.folder.write("{\"service_end\": \"\n", to: "flags.json")
        try daemon.control("refresh").expect(
            1, output: "line 1: the document ends inside a string; the last good flags")
    }
}

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
