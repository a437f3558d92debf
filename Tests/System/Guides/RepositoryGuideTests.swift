import Support
import Testing

extension Packaged {
    /// The guide to apt repositories, typed on a host that publishes one for itself, and what apt and `publish` refuse.
    @Suite struct RepositoryGuideTests {
        private let repository: RepositoryHost
        private var host: PackageHost { repository.host }

        init() throws { repository = try RepositoryHost() }

        @Test func aStrangerInstallsByTheGuideAndSeesTheStatus() throws {
            try repository.follow("Publish your own", "Add the repository to a host")
            let origin = try host.run("apt-cache policy killswitchd")
            #expect(try origin.contains("*** \(Programs.packageVersion()) "))
            #expect(origin.contains(" 500 \(RepositoryHost.url) "))
            try host.configure()
            try host.run("systemctl enable --now killswitchd; killswitchctl wait shop --for up")
            #expect(try host.run("killswitchctl status").contains("shop     running  open"))
        }

        @Test(arguments: Tampering.all)
        func aptInstallsNothingThatTheKeyHasNotSigned(_ case: Tampering) throws {
            try repository.makeKey()
            try repository.publish(.current)
            try repository.add()
            try repository.run(`case`.change)
            let said = try repository.run(
                "{ apt-get update; apt-get install --yes killswitchd; echo ended with $?; } 2>&1")
            #expect(said.contains(`case`.refusal))
            #expect(said.contains("ended with 100"))
            #expect(try host.succeeds("dpkg-query -W killswitchd") == false)
        }

        @Test func aHostThatKnowsTheRepositoryKeepsItsLastListWhenTheSignedOneIsChanged() throws {
            try repository.makeKey()
            try repository.publish(.previous)
            try repository.add()
            try repository.run("apt-get update")
            try repository.publish(.current)
            try repository.run("cd dists/bookworm && sed -i 's/^Label: .*/Label: evil/' InRelease")
            try repository.run("touch -d '1 minute' dists/bookworm/InRelease")
            let said = try repository.run("apt-get update 2>&1")
            #expect(said.contains("BADSIG"))
            #expect(try host.run("apt-cache policy killswitchd").contains("Candidate: 0.0.9\n"))
        }

        @Test func anUpgradeWhileAGateIsClosedLeavesItClosed() throws {
            try repository.makeKey()
            try repository.publish(.previous)
            try repository.add()
            try host.configure()
            try repository.run("apt-get update && apt-get install --yes killswitchd")
            try host.unit("t-web")
            try host.run("systemctl start t-web; killswitchctl attach shop t-web")
            try host.configure("ended")
            try host.system.wait(until: "! systemctl is-active t-web")
            try host.system.wait(until: "systemctl is-active killswitch-closed@shop.target")
            let units = "t-web 'killswitch-*@shop.target'"
            let before = try host.run(Packaged.PackageTests.life(of: units))

            try repository.publish(.current)
            try repository.run("apt-get update && apt-get upgrade --yes")
            let installed = try host.run("dpkg-query -W -f '${Version}' killswitchd")
            #expect(try installed == Programs.packageVersion())
            #expect(try host.run(Packaged.PackageTests.life(of: units)) == before)
            #expect(try host.run("killswitchctl get shop state") == "ended\n")
            #expect(try host.succeeds("systemctl start t-web") == false)
            // What runs is the file that the upgrade has installed.
            try host.run(
                "cd /proc/$(systemctl show killswitchd -P MainPID) && test exe -ef /usr/sbin/killswitchd"
            )
        }

        @Test func anExpiredKeyIsExtendedByTheGuide() throws {
            try repository.makeKey(in: "2020")
            try repository.publish(.current)
            try repository.add()
            let update = "apt-get update 2>&1 || true"
            #expect(try repository.run(update).contains("EXPKEYSIG"))
            try repository.run("rm $GNUPGHOME/gpg.conf")
            try repository.attempt("\(RepositoryHost.publish) . $key").expect(
                1, errors: "the key has expired; 'gpg --quick-set-expire ")
            try repository.follow("When the key ends")
            #expect(try repository.run(update).contains("EXPKEYSIG"))
            try repository.run("cp killswitchd.asc /etc/apt/keyrings && apt-get update")
            #expect(try host.run("apt-cache policy killswitchd").contains("Candidate: 0.1"))
        }

        @Test(arguments: WrongArguments.all)
        func publishSaysWhatIsWrongAndChangesNothing(_ case: WrongArguments) throws {
            try repository.makeKey()
            try repository.publish(.previous)
            let files = "find . -type f -exec sha256sum {} + | sort"
            let before = try repository.run(files)
            let result = try repository.attempt(`case`.command)
            result.expect(`case`.command == RepositoryHost.publish ? 2 : 1, errors: `case`.refusal)
            #expect(try repository.run(files) == before)
        }

        @Test func theSamePackageTwiceAndAPackageThatIsWithdrawn() throws {
            try repository.makeKey()
            try repository.publish(.previous, .previous, .current)
            try repository.publish(.previous)
            let list = "grep ^Version: dists/bookworm/main/binary-*/Packages"
            #expect(try repository.run(list).split(separator: "\n").count == 2)
            try repository.run("rm pool/bookworm/killswitchd_0.0.9_*")
            try repository.publish()
            #expect(try repository.run(list) == "Version: \(Programs.packageVersion())\n")
        }
    }
}

/// What somebody between the publisher and the host does to the repository, and apt's word for it.
struct Tampering: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: String
    let refusal: String

    private init(_ name: String, _ change: String, _ refusal: String) {
        (testDescription, self.change, self.refusal) = (name, change, refusal)
    }

    private static let key = "/etc/apt/keyrings/killswitchd.asc"
    private static let list = "dists/bookworm/main/binary-*"

    /// Changes the byte at 500 into the next one.
    private static func breaking(_ file: String) -> String {
        "tail -c +501 \(file) | head -c 1 | tr '\\000-\\377' '\\001-\\377\\000' "
            + "| dd status=none conv=notrunc bs=1 seek=500 of=\(file)"
    }

    static let all = [
        Self("the signed list", "sed -i 's/^Label: .*/Label: evil/' dists/*/InRelease", "BADSIG"),
        Self(
            "no signature",
            "cd dists/bookworm && sed -n '4,/^---/{/^---/!p}' InRelease > Release && rm InRelease",
            "is not signed"),
        Self("an empty signed list", ": > dists/bookworm/InRelease", "E: "),
        Self(
            "another key",
            "\(RepositoryHost.generate); \(RepositoryHost.publish) . $(\(RepositoryHost.key))",
            "NO_PUBKEY"),
        Self("a missing key", "rm \(key)", "NO_PUBKEY"),
        Self("an empty key", ": > \(key)", "NO_PUBKEY"),
        Self(
            "the list of packages",
            "for file in \(list)/Packages.xz \(list)/by-hash/*/*; do \(breaking("$file")); done",
            "Hash Sum mismatch"),
        Self("a longer package", "echo >> $(echo pool/bookworm/*.deb)", "File has unexpected size"),
        Self(
            "a byte of the package", breaking("$(echo pool/bookworm/*.deb)"), "Hash Sum mismatch"),
        Self("no package", "rm pool/bookworm/*.deb", "404"),
    ]
}

/// What somebody types wrongly, and the answer of `publish`.
struct WrongArguments: Sendable, CustomTestStringConvertible {
    let command: String
    let refusal: String
    var testDescription: String { command }

    private init(_ arguments: String, before: String = "", _ refusal: String) {
        command = "\(before)\(RepositoryHost.publish)\(arguments)"
        self.refusal = refusal
    }

    static let all = [
        Self("", "usage: publish FOLDER KEY"),
        Self(" . ABCD bookworm=../previous.deb", "the whole fingerprint of a key is needed"),
        Self(" . \(String(repeating: "0", count: 40))", "there is no such secret key"),
        Self(
            " . $key", before: "sed 's/^:---/---/' $GNUPGHOME/openpgp-revocs.d/* | gpg --import; ",
            "the key is revoked"),
        Self(" . $key ../previous.deb", "SUITE=PACKAGE.deb is needed"),
        Self(" . $key ../up=../previous.deb", "SUITE=PACKAGE.deb is needed"),
        Self(" . $key =../previous.deb", "SUITE=PACKAGE.deb is needed"),
        Self(" . $key bookworm=", "read '': no such file"),
        Self(" . $key bookworm=..", "read '..': no whole Debian package"),
        Self(" . $key bookworm=/etc/passwd", "read '/etc/passwd': no whole Debian package"),
        Self(
            " . $key trixie=../current.deb bookworm=../cut",
            before: "head -c 1M ../previous.deb > ../cut; ",
            "read '../cut': no whole Debian package"),
        Self(
            " . $key bookworm=../other", before: other, "'./pool/bookworm/killswitchd_0.0.9_"),
        Self(
            " . $key trixie=../previous.deb trixie=../other", before: other,
            "has the same name and version, and other bytes"),
        Self(" ../empty $key", "publish '../empty': there is no package"),
        Self(" . $key", before: "flock .publish.lock ", "somebody else is publishing there"),
    ]

    /// Makes another package of the same version.
    private static let other = """
        dpkg-deb --raw-extract ../previous.deb ../raw && dpkg-deb -Znone --build ../raw ../other; \

        """
}

/// A host that publishes a repository for itself, behind a web server of its own.
struct RepositoryHost {
    let host: PackageHost

    /// The address that stands in for the one of the guide.
    static let url = "http://127.0.0.1:8731"
    static let folder = "/srv/t-repository"
    static let publish = "bash \(PackageHost.folder)/publish"
    static let generate = """
        \(unattended) --yes --quick-generate-key '<ops@example.com>' ed25519 sign 1y
        """
    /// Prints the fingerprint of the newest key.
    static let key = """
        gpg --with-colons --list-secret-keys 2>/dev/null | awk -F: '$1 == "fpr" { f = $10 }
        END { print f }'
        """
    private static let unattended = "gpg --batch --quiet --passphrase ''"
    private static let home = "export GNUPGHOME=\(folder)/gnupg"

    init() throws {
        host = try PackageHost()
        try host.system.copy(
            "\(Programs.project)/packaging/repository/publish", to: PackageHost.folder)
        // The host has no other source of packages, because it has no network.
        try host.run(
            """
            rm -rf \(Self.folder) /srv/packages /etc/apt/sources.list* /etc/apt/keyrings/* /var/lib/apt/lists/*
            rm -f /var/cache/apt/archives/killswitchd*
            mkdir -p /etc/apt/sources.list.d /var/lib/apt/lists/partial \(Self.folder)/packages
            mkdir -m 700 \(Self.folder)/gnupg
            ln -s \(Self.folder)/packages /srv/packages
            cd \(PackageHost.folder) && mv killswitchd_*.deb previous.deb && mv build/*.deb current.deb
            cp current.deb bookworm.deb && cp current.deb trixie.deb
            cd \(Self.folder) && ln -s \(PackageHost.folder)/*.deb .
            systemd-run --quiet --unit=t-repository python3 -m http.server 8731 --bind 127.0.0.1 \\
                --directory \(Self.folder)/packages
            """)
        try host.system.wait(until: "curl --silent --fail \(Self.url)")
    }

    /// Runs a command in the folder of the repository, with the fingerprint of the newest key in `key`.
    func attempt(_ command: String) throws -> Program.Result {
        try host.system.attempt(
            """
            export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root
            \(Self.home)
            key=$(\(Self.key))
            cd \(Self.folder)/packages && \(command)
            """)
    }

    @discardableResult
    func run(_ command: String) throws -> String {
        let result = try attempt(command)
        guard result.status == 0 else { throw TestFailure("'\(command)': \(result)") }
        return result.output
    }

    /// Makes a key that lasts a year from now, or from the March of this year; gpg then lives in that time.
    func makeKey(in year: String? = nil) throws {
        if let year { try run("echo faked-system-time \(year)0301T000000 > $GNUPGHOME/gpg.conf") }
        try run(Self.generate)
    }

    /// Publishes these packages for Debian 12.
    func publish(_ builds: PackageHost.Build...) throws {
        let packages = builds.map { " bookworm=../\($0).deb" }.joined()
        try run("\(Self.publish) . $key\(packages)")
    }

    /// Adds the repository to the host as the guide does.
    func add() throws {
        try run("cp killswitchd.asc /etc/apt/keyrings")
        try host.system.write(
            """
            Types: deb
            URIs: \(Self.url)
            Suites: bookworm
            Components: main
            Signed-By: /etc/apt/keyrings/killswitchd.asc

            """, to: "/etc/apt/sources.list.d/killswitchd.sources")
    }

    /// Types sections of the guide, without the questions of gpg.
    func follow(_ sections: String...) throws {
        // A host that is newer than the guide takes the place of Debian 13.
        let release = try host.run(". /etc/os-release && printf %s $VERSION_CODENAME")
        let newest = release == "bookworm" ? "trixie" : release
        for section in sections {
            try GuideHost(host: host).follow("repository.md", section) { page in
                page.replacing("https://packages.example.com", with: Self.url)
                    .replacing("packaging/repository/publish", with: Self.publish)
                    .replacing("trixie=", with: "\(newest)=")
                    .replacing("publish: trixie", with: "publish: \(newest)")
                    .replacing("gpg --quick", with: "\(Self.unattended) --quick")
                    .replacing("```sh\n", with: "```sh\n\(Self.home)\n")
            }
        }
    }
}
