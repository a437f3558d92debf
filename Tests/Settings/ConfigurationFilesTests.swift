import Files
import Settings
import Support
import Testing

/// Which files make up a configuration, and in which order.
@Suite struct ConfigurationFilesTests {
    /// The main file and the folders of drop-ins as on a host, the strongest first.
    private struct Host {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            for name in ["etc/conf.d", "run", "usr"] { try Directory.create(folder(name)) }
            try folder.write("main", to: "etc/killswitchd.toml")
        }

        func read() throws -> (read: [String], passedOver: [String]) {
            let places = ConfigurationPlaces(
                main: folder("etc/killswitchd.toml"),
                dropIns: [folder("etc/conf.d"), folder("run"), folder("usr"), folder("missing")])
            let files = try ConfigurationFiles(reading: places)
            let short = { (text: String) in text.replacing(folder.path + "/", with: "") }
            return (files.contents.map { short($0.path) }, files.passedOver.map { short("\($0)") })
        }
    }

    @Test func dropInsAreTakenByNameOverAllFolders() throws {
        let host = try Host()
        try host.folder.write("", to: "usr/30-c.toml")
        try host.folder.write("", to: "run/20-b.toml")
        try host.folder.write("", to: "etc/conf.d/10-a.toml")
        try host.folder.write("", to: "usr/05-z.toml")
        let (read, passedOver) = try host.read()
        #expect(
            read == [
                "etc/killswitchd.toml", "usr/05-z.toml", "etc/conf.d/10-a.toml", "run/20-b.toml",
                "usr/30-c.toml",
            ])
        #expect(passedOver == [])
    }

    @Test func theSameNameCountsOnceInTheStrongestFolder() throws {
        let host = try Host()
        for folder in ["etc/conf.d", "run", "usr"] {
            try host.folder.write("", to: "\(folder)/10-a.toml")
        }
        try host.folder.write("", to: "run/20-b.toml")
        try host.folder.write("", to: "usr/20-b.toml")
        let (read, passedOver) = try host.read()
        #expect(read == ["etc/killswitchd.toml", "etc/conf.d/10-a.toml", "run/20-b.toml"])
        #expect(
            passedOver == [
                "skipped run/10-a.toml: etc/conf.d/10-a.toml is read instead",
                "skipped usr/10-a.toml: etc/conf.d/10-a.toml is read instead",
                "skipped usr/20-b.toml: run/20-b.toml is read instead",
            ])
    }

    @Test func aLinkToNullMasksTheNameInWeakerFolders() throws {
        let host = try Host()
        try host.folder.write("", to: "usr/10-a.toml")
        try host.folder.link("/dev/null", as: "run/10-a.toml")
        let (read, passedOver) = try host.read()
        #expect(read == ["etc/killswitchd.toml"])
        #expect(
            passedOver == [
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

    @Test func whatHasAnotherSuffixIsSkippedWithAWord() throws {
        let host = try Host()
        try host.folder.write("", to: "etc/conf.d/10-a.conf")
        try host.folder.write("", to: "etc/conf.d/10-a.toml.dpkg-new")
        let (read, passedOver) = try host.read()
        #expect(read == ["etc/killswitchd.toml"])
        #expect(
            passedOver == [
                "skipped etc/conf.d/10-a.conf: its name does not end in .toml",
                "skipped etc/conf.d/10-a.toml.dpkg-new: its name does not end in .toml",
            ])
    }

    @Test func withoutAMainFileThereIsNoConfiguration() throws {
        let folder = try TemporaryFolder()
        let error = try #require(throws: FileError.self) {
            try ConfigurationFiles(reading: .beside(folder("killswitchd.toml")))
        }
        #expect(error.isNotFound)
    }

    @Test func aFileOfOnesOwnHasItsDropInsBesideIt() throws {
        #expect(try ConfigurationPlaces.beside("/a/b.toml").dropIns == ["/a/conf.d"])
        let main = ConfigurationPlaces.standard.main
        #expect(try ConfigurationPlaces.beside(main) == .standard)
        #expect(
            ConfigurationPlaces.standard.dropIns == [
                "/etc/killswitchd/conf.d", "/run/killswitchd/conf.d", "/usr/lib/killswitchd/conf.d",
            ])
    }
}
