import Configuration
import Files
import Glibc
import Support
import Testing

@Suite struct ConfigurationFilesTests {
    /// The main file and the folders of drop-ins as on a host, the strongest first.
    private struct Host {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            for name in ["etc/conf.d", "run", "usr"] { try Directory.create(folder(name)) }
            try folder.write("main", to: "etc/killswitchd.toml")
        }

        func read(trusting user: UInt32? = nil) throws -> (read: [String], skipped: [String]) {
            let files = try files(trusting: user)
            let short = { (text: String) in text.replacing(folder.path + "/", with: "") }
            return (files.contents.map { short($0.path) }, files.skipped.map { short("\($0)") })
        }

        func files(trusting user: UInt32? = nil) throws -> ConfigurationFiles {
            var places = ConfigurationPlaces(
                main: folder("etc/killswitchd.toml"),
                dropIns: [folder("etc/conf.d"), folder("run"), folder("usr"), folder("missing")],
                exposed: [folder("run")]
            ).trusting(geteuid())
            if let user { places = places.trusting(user) }
            return try ConfigurationFiles(reading: places)
        }
    }

    @Test func dropInsAreTakenByNameOverAllFolders() throws {
        let host = try Host()
        try host.folder.write("", to: "usr/30-c.toml")
        try host.folder.write("", to: "run/20-b.toml")
        try host.folder.write("", to: "etc/conf.d/10-a.toml")
        try host.folder.write("", to: "usr/05-z.toml")
        let (read, skipped) = try host.read()
        #expect(
            read == [
                "etc/killswitchd.toml", "usr/05-z.toml", "etc/conf.d/10-a.toml", "run/20-b.toml",
                "usr/30-c.toml",
            ])
        #expect(skipped == [])
    }

    @Test func theSameNameCountsOnceInTheStrongestFolder() throws {
        let host = try Host()
        for folder in ["etc/conf.d", "run", "usr"] {
            try host.folder.write("", to: "\(folder)/10-a.toml")
        }
        try host.folder.write("", to: "run/20-b.toml")
        try host.folder.write("", to: "usr/20-b.toml")
        let (read, skipped) = try host.read()
        #expect(read == ["etc/killswitchd.toml", "etc/conf.d/10-a.toml", "run/20-b.toml"])
        #expect(
            skipped == [
                "skipped run/10-a.toml: etc/conf.d/10-a.toml is read instead",
                "skipped usr/10-a.toml: etc/conf.d/10-a.toml is read instead",
                "skipped usr/20-b.toml: run/20-b.toml is read instead",
            ])
    }

    @Test func aLinkToNullMasksTheNameInWeakerFolders() throws {
        let host = try Host()
        try host.folder.write("", to: "usr/10-a.toml")
        try host.folder.link("/dev/null", as: "run/10-a.toml")
        let (read, skipped) = try host.read()
        #expect(read == ["etc/killswitchd.toml"])
        #expect(
            skipped == [
                "masked run/10-a.toml: it is a link to /dev/null",
                "skipped usr/10-a.toml: run/10-a.toml is read instead",
            ])
    }

    @Test func aLinkToAnotherFileIsThatFile() throws {
        let host = try Host()
        try host.folder.write("linked", to: "elsewhere")
        try host.folder.link("../elsewhere", as: "run/10-a.toml")
        #expect(try host.read().read == ["etc/killswitchd.toml", "run/10-a.toml"])
    }

    @Test func filesWithAnotherSuffixAreSkippedAndReported() throws {
        let host = try Host()
        try host.folder.write("", to: "etc/conf.d/10-a.conf")
        try host.folder.write("", to: "etc/conf.d/10-a.toml.dpkg-new")
        let (read, skipped) = try host.read()
        #expect(read == ["etc/killswitchd.toml"])
        #expect(
            skipped == [
                "skipped etc/conf.d/10-a.conf: its name does not end in .toml",
                "skipped etc/conf.d/10-a.toml.dpkg-new: its name does not end in .toml",
            ])
    }

    /// A drop-in in a folder whose parent belongs to the daemon: owners and modes.
    struct Exposed: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var owner: UInt32 = 0
        var mode: UInt32 = 0o644
        var folderOwner: UInt32 = 0
        var folderMode: UInt32 = 0o755
        /// Whether the folder is a link to such a folder.
        var isLinked = false
        /// Whether the daemon runs as an ordinary user, with the ID 4711.
        var isOwn = false
        /// The report about the skipped file; nil if it is read.
        var expected: String?
    }

    /// /run/killswitchd belongs to the daemon's user. A compromised daemon could have left files there,
    /// which later daemons and root's --check would have read.
    @Test(
        .enabled(if: geteuid() == 0, "needs root"),
        arguments: [
            Exposed(testDescription: "root's"),
            Exposed(
                testDescription: "the daemon's file", owner: 4711,
                expected: "skipped run/10-a.toml: it belongs to user 4711, not to root"),
            Exposed(
                testDescription: "a file that others may write", mode: 0o666,
                expected: "skipped run/10-a.toml: its mode 666 lets others write to it"),
            Exposed(
                testDescription: "a file that a group may write", mode: 0o664,
                expected: "skipped run/10-a.toml: its mode 664 lets others write to it"),
            Exposed(
                testDescription: "the daemon's folder", folderOwner: 4711,
                expected: "skipped run: it belongs to user 4711, not to root"),
            Exposed(
                testDescription: "a folder that others may write", folderMode: 0o777,
                expected: "skipped run: its mode 777 lets others write to it"),
            Exposed(
                testDescription: "a link to a folder of root's", isLinked: true,
                expected: "skipped run: it is a link"),
            Exposed(
                testDescription: "a user's own daemon", owner: 4711, folderOwner: 4711, isOwn: true),
            Exposed(testDescription: "root's, for a user's own daemon", isOwn: true),
            Exposed(
                testDescription: "another user's, for a user's own daemon", owner: 4712,
                isOwn: true,
                expected: "skipped run/10-a.toml: it belongs to user 4712, not to root"),
        ])
    func inAnExposedFolderOnlyTrustedFilesAreRead(_ row: Exposed) throws {
        let host = try Host()
        let folder = row.isLinked ? "real" : "run"
        try Directory.create(host.folder(folder))
        try host.folder.write("", to: "usr/10-a.toml")
        try host.folder.write("", to: "\(folder)/10-a.toml")
        for (path, owner, mode) in [
            ("\(folder)/10-a.toml", row.owner, row.mode), (folder, row.folderOwner, row.folderMode),
        ] {
            try #require(unsafe chown(host.folder(path), owner, 0) == 0)
            try #require(unsafe chmod(host.folder(path), mode) == 0)
        }
        if row.isLinked {
            try Directory.remove(host.folder("run"))
            try host.folder.link("real", as: "run")
        }
        let (read, skipped) = try host.read(trusting: row.isOwn ? 4711 : nil)
        // An untrusted file hides no file in a weaker folder.
        #expect(read.last == (row.expected == nil ? "run/10-a.toml" : "usr/10-a.toml"))
        #expect(
            skipped.first == row.expected ?? "skipped usr/10-a.toml: run/10-a.toml is read instead")
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func anUntrustedFolderMasksNothing() throws {
        let host = try Host()
        try host.folder.write("", to: "usr/10-a.toml")
        try host.folder.link("/dev/null", as: "run/10-a.toml")
        #expect(try host.read().read == ["etc/killswitchd.toml"])
        try #require(unsafe chown(host.folder("run"), 4711, 0) == 0)
        #expect(try host.read().read == ["etc/killswitchd.toml", "usr/10-a.toml"])
    }

    /// A daemon that was broken into owns the folder's parent: it could show a folder of root's while that was
    /// checked, and have another one in its place when that was read.
    @Test(.timeLimit(.minutes(5)))
    func aFolderThatIsExchangedAllTheTimeIsReadAsItWasChecked() throws {
        let host = try Host()
        try host.folder.write("root's", to: "run/10-a.toml")
        try Directory.create(host.folder("evil"))
        try host.folder.write("evil", to: "evil/10-a.toml")
        try #require(unsafe chmod(host.folder("evil"), 0o777) == 0)
        try #require(unsafe chmod(host.folder("evil/10-a.toml"), 0o666) == 0)
        let exchanging = try Program(
            "/usr/bin/python3",
            [
                "-c",
                """
                import ctypes, sys
                libc, here, exchange = ctypes.CDLL(None), -100, 2
                run, evil = (name.encode() for name in sys.argv[1:])
                print("begun", flush=True)
                while libc.renameat2(here, run, here, evil, exchange) == 0:
                    pass
                """, host.folder("run"), host.folder("evil"),
            ])
        while try exchanging.output != "begun\n" {}
        var (taken, skipped) = (0, 0)
        while taken < 500 || skipped < 500 {
            let files = try host.files()
            for file in files.contents where file.path.hasSuffix("/10-a.toml") {
                try #require(String(decoding: file.bytes, as: UTF8.self) == "root's")
                taken += 1
            }
            skipped += files.skipped.count
        }
    }

    @Test func withoutAMainFileThereIsNoConfiguration() throws {
        let folder = try TemporaryFolder()
        let error = try #require(throws: FileError.self) {
            try ConfigurationFiles(reading: .beside(folder("killswitchd.toml")))
        }
        #expect(error.isNotFound)
    }

    @Test func dropInsOfACustomFileLieBesideIt() throws {
        #expect(try ConfigurationPlaces.beside("/a/b.toml").dropIns == ["/a/conf.d"])
        let main = ConfigurationPlaces.standard.main
        #expect(try ConfigurationPlaces.beside(main) == .standard)
        #expect(
            ConfigurationPlaces.standard.dropIns == [
                "/etc/killswitchd/conf.d", "/run/killswitchd/conf.d", "/usr/lib/killswitchd/conf.d",
            ])
        #expect(ConfigurationPlaces.standard.exposed == ["/run/killswitchd/conf.d"])
        #expect(ConfigurationPlaces.standard.trustedOwners == [0])
    }
}
