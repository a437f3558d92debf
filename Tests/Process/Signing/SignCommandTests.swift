import CivilTime
import Files
import JSON
import Support
import Testing

/// `sign`, `verify` and `plan`, beside Debian's own ssh-keygen.
@Suite(.timeLimit(.minutes(5))) struct SignCommandTests {
    /// What `killswitchctl sign` signs with each type of key, ssh-keygen accepts; and the other way round.
    @Test(arguments: ["ed25519", "ecdsa"])
    func theSignaturesOfBothProgramsAreTheSame(type: String) throws {
        let fleet = try Fleet(keys: [type, "ed25519"])
        let folder = fleet.daemon.folder
        try folder.write(#"{"service_end": "no"}"#, to: "flags.json")
        try fleet.sign(
            fleet.alice, "--flags-version", "7", "--expires", "7d", "--audience", "prod"
        ).expect(0, output: "is version 7 for prod until ")
        let text = try folder.text(of: "flags.json")
        let start = try #require(text.firstRange(of: "-----BEGIN SSH SIGNATURE-----"))
        try folder.write(String(text[..<start.lowerBound]), to: "document")
        try folder.write(String(text[start.lowerBound...]), to: "document.sig")
        try shell(
            """
            ssh-keygen -Y verify -n killswitchd -I alice -f '\(folder("allowed_signers"))' \
            -s '\(folder("document.sig"))' < '\(folder("document"))'
            """)
        let document = Fleet.document("no", version: 7)
        try folder.write(document + fleet.alice.sign(document), to: "flags.json")
        try fleet.verify().expect(0, output: "signed by  alice\n", "result     a host accepts it\n")
    }

    @Test(arguments: SoftwareSecurityKey.Kind.allCases)
    func aSecurityKeyInSoftwareIsAccepted(kind: SoftwareSecurityKey.Kind) throws {
        let fleet = try Fleet()
        let token = try SoftwareSecurityKey(kind, in: fleet.daemon.folder)
        try fleet.list(["carol \(token.publicText)"])
        let document = Fleet.document("no", version: 7)
        try fleet.publish(document + token.sign(document))
        #expect(try fleet.verify().output.contains("signed by  carol\n"))
        try fleet.publish(document + token.sign(document, flags: 0))
        try fleet.verify().expect(1, output: "a host refuses it, 'security-key-untouched': ")
    }

    /// `sign` and `verify` name members that nobody reads; with `--strict` nothing is signed.
    @Test func unknownMembersAreNamed() throws {
        let fleet = try Fleet()
        try fleet.publish(#"{"state": "ended", "titel": "T", "x-by": "me"}"#)
        let before = try fleet.text
        let options = ["--flags-version", "1", "--expires", "7d", "--audience", "prod"]
        let alice = fleet.daemon.folder(fleet.alice.name)
        let strict = try fleet.sign(alice, options + ["--strict"]).expect(
            1, errors: "key 'titel' is unknown and ignored")
        #expect(!strict.errors.contains("'x-by'") && !strict.errors.contains("'version'"))
        #expect(try fleet.text == before)
        try fleet.sign(alice, options).expect(
            0, errors: "key 'titel' is unknown and ignored")
        try fleet.verify().expect(0, output: "unknown    key 'titel' is unknown and ignored\n")
        try fleet.verify("--strict").expect(1, output: "result     a host accepts it\n")
    }

    /// A configuration says what is read: here by the format service-end.
    @Test func theKeysOfAConfigurationAreKnown() throws {
        let fleet = try Fleet()
        try fleet.publish(#"{"service_end": "no", "more": 1}"#)
        let options = ["--flags-version", "1", "--expires", "7d", "--audience", "prod"]
        let alice = fleet.daemon.folder(fleet.alice.name)
        let bare = try fleet.sign(alice, options).expect(0)
        #expect(!bare.errors.contains("unknown"))
        try fleet.verify("--strict").expect(1, output: "key 'service_end' is unknown")
        let configuration = fleet.daemon.folder("killswitchd.toml")
        let known = try fleet.verify("--config", configuration, "--strict").expect(
            1, output: "unknown    key 'more' is unknown and ignored\n")
        #expect(!known.output.contains("'service_end'"))
        try fleet.verify("--config", configuration).expect(0)
    }

    /// An unset time of a signer's language is no time of signing.
    @Test func anUnsetTimeOfSigningIsNone() throws {
        let fleet = try Fleet()
        try fleet.publish(
            #"{"state": "ended", "issued": "0001-01-01T00:00:00Z", "version": 1, "audience": "prod", "expires": "2099-01-01T00:00:00Z"}"#
        )
        try fleet.sign(fleet.alice).expect(0)
        let shown = try fleet.verify().expect(0, output: "result     a host accepts it\n")
        #expect(!shown.output.contains("issued"), "\(shown.output)")
    }

    @Test func theNextPersonSignsTheSameDocument() throws {
        let fleet = try Fleet()
        try fleet.publish(#"{"service_end": "no", "more": 1.50, "list": [1, "ü"]}"#)
        #expect(
            try fleet.sign(
                fleet.alice, "--flags-version", "next", "--expires", "7d", "--audience", "prod",
                "--audience", "stage"
            ).status == 0)
        let first = try fleet.text
        #expect(first.contains("1.50") && first.contains("ü"))
        let second = try fleet.sign(fleet.bob).expect(
            0, output: "is version 1 for prod, stage until ")
        #expect(second.output.hasSuffix("with 2 signatures\n"))
        #expect(first.contains("\"issued\": \"20"))
        #expect(try fleet.verify().output.contains("\nissued     20"))
        #expect(try fleet.text.hasPrefix(first))
        #expect(try fleet.verify().output.contains("signed by  alice, bob\n"))
        // A new version is another document.
        let next = try fleet.sign(fleet.alice, "--flags-version", "next")
        #expect(next.errors.contains("the signatures in"), "\(next.errors)")
        #expect(
            next.output.contains("is version 2 ") && next.output.hasSuffix("with 1 signature\n"))
    }

    /// `sign` writes the time, and keeps the bytes of a document that needs nothing. The time of the earlier version
    /// goes with that; one that somebody wrote into an unsigned document stays.
    @Test func signSaysWhenTheDocumentWasIssued() throws {
        let fleet = try Fleet()
        let own = #""issued": "2027-01-01T00:00:00+00:00""#
        try fleet.publish(#"{"a": 1, "expires": "2099-01-01T00:00:00Z", \#(own)}"#)
        #expect(
            try fleet.sign(fleet.alice, "--flags-version", "1", "--audience", "prod").status == 0)
        #expect(try fleet.text.contains(own))
        #expect(try fleet.sign(fleet.alice, "--flags-version", "2").status == 0)
        #expect(try fleet.text.contains("\"issued\": \"20") && !fleet.text.contains(own))
        let time = "2027-02-01T00:00:00+00:00"
        #expect(try fleet.sign(fleet.alice, "--flags-version", "3", "--issued", time).status == 0)
        #expect(try fleet.text.contains("\"issued\": \"\(time)\""))
        let late = try fleet.sign(
            fleet.alice, "--flags-version", "4", "--issued", "2100-01-01T00:00:00Z")
        #expect(late.errors.contains("its 'issued' is later than its 'expires'"), "\(late.errors)")
        #expect(try fleet.sign(fleet.bob, "--issued", time).errors.contains("is already signed"))
        let complete = Fleet.document("no", version: 9)
        try fleet.publish(complete)
        #expect(try fleet.sign(fleet.alice).status == 0)
        #expect(try fleet.text.hasPrefix(complete))
    }

    /// A document that a host would not understand is not signed, and the file stays as it was.
    @Test(arguments: [
        ("", [], "the answer is empty"), ("<html>", [], "the answer is a web page"),
        ("[1]", ["--flags-version", "1"], "not a JSON object"),
        (#"{"version": "1"}"#, ["--flags-version", "next"], "has no next one"),
        (#"{"version": 9223372036854775807}"#, ["--flags-version", "next"], "has no next one"),
        (#"{"a": 1}"#, [], "key 'version' is missing"),
        (#"{"a": 1}"#, ["--flags-version", "1", "--expires", "7d"], "key 'audience' is missing"),
        (#"{"a": 1}"#, ["--flags-version", "one"], "write a number, or 'next'"),
        (#"{"a": 1}"#, ["--expires", "soon"], "write a duration such as 7d"),
        (#"{"a": 1}"#, ["--audience", ""], "--audience is empty"),
    ])
    func aDocumentThatNobodyCouldUseIsNotSigned(
        text: String, options: [String], message: String
    ) throws {
        let fleet = try Fleet()
        try fleet.publish(text)
        let result = try fleet.sign(fleet.daemon.folder("alice"), options)
        #expect(result.status != 0)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(try fleet.text == text)
    }

    @Test func anEditedDocumentHasToBeSignedAnew() throws {
        let fleet = try Fleet()
        try fleet.publish("no", version: 1, by: fleet.alice)
        let text = try fleet.text.replacing(#""no""#, with: #""yes""#)
        try fleet.publish(text)
        try fleet.sign(fleet.bob).expect(
            1, errors: "if the flags were edited, give --flags-version next")
        #expect(try fleet.text == text)
        #expect(try fleet.sign(fleet.bob, "--flags-version", "next").status == 0)
    }

    /// Two signatures of one person look like those of two people.
    @Test func aKeyThatSignsAgainAddsNothing() throws {
        let fleet = try Fleet()
        try fleet.publish("no", version: 1, by: fleet.bob)
        let text = try fleet.text
        // Each signature by ECDSA differs.
        let again = try fleet.sign(fleet.bob).expect(0, errors: "has signed")
        #expect(again.output.hasSuffix("with 1 signature\n"), "\(again.output)")
        #expect(try fleet.text == text)
        // Two signatures of one person count once.
        try fleet.publish("no", version: 1, by: fleet.bob, fleet.bob)
        #expect(try fleet.verify().output.contains("signed by  bob\n"))
        let second = try fleet.sign(fleet.alice)
        #expect(second.output.hasSuffix("with 2 signatures\n"), "\(second.output)")
    }

    /// Each version has one content: hosts refuse another one of the same version.
    @Test func aSignedDocumentChangesOnlyWithItsVersion() throws {
        let fleet = try Fleet()
        try fleet.publish("no", version: 1, by: fleet.alice)
        let text = try fleet.text
        for (option, value) in [("--expires", "7d"), ("--audience", "stage")] {
            try fleet.sign(fleet.bob, option, value).expect(
                1, errors: "is already signed", "add --flags-version next")
            #expect(try fleet.text == text)
        }
    }

    /// No host accepts the key, so its signature is not added.
    @Test func aKeyOfATypeThatNoHostAcceptsSignsNothing() throws {
        let fleet = try Fleet()
        let text = Fleet.document("no", version: 1)
        try fleet.publish(text)
        let result = try fleet.sign(
            try SigningKey("rsa", in: fleet.daemon.folder, name: "rsa")
        ).expect(1, errors: "signed by a key of the type 'ssh-rsa', and accepted are ssh-")
        #expect(!result.errors.contains("--flags-version next"), "\(result.errors)")
        #expect(try fleet.text == text)
    }

    @Test func aKeyThatIsNotThereSignsNothing() throws {
        let fleet = try Fleet()
        try fleet.publish("no", version: 1, by: fleet.alice)
        let before = try fleet.text
        try fleet.sign(fleet.daemon.folder("nobody"), []).expect(
            1, errors: "ssh-keygen has not signed with the key")
        #expect(try fleet.text == before)
    }

    /// What `verify` says, a host does.
    @Test func verifyNamesWhatDoesNotCount() throws {
        let fleet = try Fleet()
        let document = Fleet.document("no", version: 7, audience: "stage")
        try fleet.publish(fleet.signed(document, by: [fleet.mallory, fleet.alice]))
        try fleet.verify().expect(
            1, output: "not counted", "which no listed signer has",
            "a host refuses it, 'other-audience': it is for 'stage', this host is 'prod'")
        let json = try fleet.verify("--accepted", "8", "--json", audience: "stage")
        let object = try #require(try JSON.Value.parse(Array(json.output.utf8)).object)
        #expect(object["reason"]?.string == "rollback")
        #expect(object["accepted"]?.bool == false)
        #expect(object["author"]?.serialized(.compact) == #"["alice"]"#)
    }

    @Test func planTakesSignedFlags() throws {
        let fleet = try Fleet()
        try fleet.publish("yes", version: 1, by: fleet.alice)
        let plan = { (more: [String]) in
            try Programs.run(
                "killswitchctl", ["plan", fleet.daemon.folder("flags.json")] + more)
        }
        let service = ["--config", fleet.daemon.folder("killswitchd.toml"), "--service", "shop"]
        let signed = try plan(service + ["--json"]).expect(0, output: "ended")
        #expect(signed.output.contains("alice"), "\(signed.output)")
        let bare = try plan(["--format", "service-end"])
        #expect(bare.output.contains("ended"), "\(bare.errors)")
        #expect(bare.errors.contains("the signatures are not checked"))
        try fleet.publish("yes", version: 1, by: fleet.mallory)
        try plan(service).expect(1, errors: "refused, 'signer-not-listed'")
    }
}
