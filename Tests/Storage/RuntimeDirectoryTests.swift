import CivilTime
import Decision
import Files
import JSON
import Pages
import Storage
import Support
import Testing

@Suite struct RuntimeDirectoryTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func directory(boot: String = "b-1") -> RuntimeDirectory {
        RuntimeDirectory(path: folder.path, bootID: boot)
    }

    private func publish(
        _ state: State, _ gate: Gate, of name: String = "shop", in directory: RuntimeDirectory
    ) throws {
        try directory.publish(try record(try verdict(state, gate)), of: try service(name))
    }

    /// The files beside the marker while people should see the page.
    private static let shown = [
        "page.html", "problem.json", "retry-after", "state.env", "state.json", "unavailable",
    ]

    @Test func theMarkerIsOneFileThatChangesItsName() throws {
        let directory = directory()
        try publish(.running, .open, in: directory)
        #expect(
            try Directory.list(folder("shop")) == ["open", "page.html", "state.env", "state.json"])
        try publish(.ended, .closed, in: directory)
        #expect(try Directory.list(folder("shop")) == ["closed"] + Self.shown)
        try directory.publish(try record(.undecided(.starting)), of: try service("shop"))
        #expect(try Directory.list(folder("shop")) == Self.shown)
        let open = try record(try verdict(.running, .open))
        try directory.publish(open, of: try service("shop"))
        #expect(try Directory.list(folder("shop")) == ["open"] + Self.shown)
        try directory.publish(isUnavailable: false, open, of: try service("shop"), page: .standard)
        #expect(
            try Directory.list(folder("shop")) == ["open", "page.html", "state.env", "state.json"])
    }

    @Test func filesAreReadableByEverybody() throws {
        try publish(.running, .open, in: directory())
        for file in ["open", "page.html", "state.env", "state.json"] {
            #expect(try File.attributes(of: folder("shop/\(file)")).mode == 0o644)
        }
    }

    @Test func theFilesOfServicesAndSourcesThatAreGoneAreRemovedAndNothingElse() throws {
        let before = directory()
        for name in ["shop", "blog"] { try publish(.running, .open, of: name, in: before) }
        try File.touch(before.confirmationPath(of: "app"))
        try File.touch(before.confirmationPath(of: "old"))
        try Directory.create(folder("notes"))
        try folder.write("mine", to: "notes/open")
        #expect(try directory().tidy(services: ["shop"], sources: ["app"]).isEmpty)
        #expect(try Directory.list(folder.path) == ["notes", "shop", "source.app"])
        #expect(try folder.text(of: "notes/open") == "mine")
    }

    @Test func aFileOfSomebodyElseKeepsTheFolderOfAServiceThatIsGone() throws {
        try publish(.running, .open, in: directory())
        try folder.write("mine", to: "shop/notes")
        #expect(try directory().tidy(services: [], sources: []).isEmpty)
        #expect(try Directory.list(folder("shop")) == ["notes"])
    }

    /// One such entry once prevented every later start of the daemon.
    @Test func foreignFilesAreReportedAndLeftAlone() throws {
        try publish(.running, .open, of: "blog", in: directory())
        for odd in ["backup/state.json", "shop/open/x", "source.gone", "shop/state.json"] {
            try Directory.create(folder(odd))
        }
        try Directory.create(folder("web"))
        try folder.write("{", to: "web/state.json")
        try folder.write("", to: "mail")
        let problems = try directory().tidy(services: ["shop"], sources: [])
        #expect(
            problems.map { "\($0)".replacing(folder.path + "/", with: "") } == [
                "read 'backup/state.json': is a directory",
                "remove 'shop/open': is a directory", "remove 'source.gone': is a directory",
                "read 'web/state.json': unexpected end of input at line 1, column 2: "
                    + "expected a key in double quotes or '}'",
            ])
        #expect(
            try Directory.list(folder.path) == ["backup", "mail", "shop", "source.gone", "web"])
    }

    /// A closing that could not be written leaves only the marker. A marker `open` alone says nothing.
    @Test(arguments: [Gate.closed, .open]) func aMarkerAloneStaysIfItIsClosed(_ gate: Gate) throws {
        try Directory.create(folder("shop"))
        try folder.write("", to: "shop/\(gate.rawValue)")
        let published = directory().published(of: ["shop", "web"])
        #expect(published.mapValues(\.state) == ["shop": gate == .open ? .running : .maintenance])
        #expect(try directory().tidy(services: ["shop"], sources: []).isEmpty)
        #expect(try Directory.list(folder("shop")) == (gate == .closed ? ["closed"] : []))
    }

    @Test func markersOfAnotherBootAreRemovedAtTheStart() throws {
        try publish(.running, .open, in: directory(boot: "b-1"))
        #expect(try directory(boot: "b-1").tidy(services: ["shop"], sources: []).isEmpty)
        #expect(try File.exists(folder("shop/open")))
        #expect(try directory(boot: "b-2").tidy(services: ["shop"], sources: []).isEmpty)
        #expect(try Directory.list(folder("shop")) == ["page.html", "state.env", "state.json"])
    }

    @Test func aConfirmationIsTheTimeOfAnEmptyFile() throws {
        try directory().confirm(directory().confirmationPath(of: "app"))
        #expect(try File.attributes(of: folder("source.app")).size == 0)
    }

    /// Deleted by somebody else: what the daemon removes itself is not missing, and what it has not written neither.
    @Test func whatSomebodyDeletesIsMissing() throws {
        let directory = directory()
        try publish(.ended, .closed, in: directory)
        try directory.confirm(directory.confirmationPath(of: "app"))
        #expect(directory.missing().isEmpty)
        try Program.succeed("/bin/sh", ["-c", "rm -r \(folder.path)/*"])
        let closed = Set((["closed"] + Self.shown).map { "shop/\($0)" })
        #expect(directory.missing() == closed.union(["source.app"]))
        try directory.removeConfirmation(of: "app")
        try publish(.running, .open, in: directory)
        #expect(directory.missing().isEmpty)
        try File.remove(folder("shop/open"))
        #expect(directory.missing() == ["shop/open"])
        try directory.withdraw("shop")
        #expect(directory.missing().isEmpty)
    }

    /// Renaming the marker needs no space, so that a full disk prevents no closing. The other files once
    /// still said open, and every reader of those continued.
    @Test(arguments: [
        ("state.json", []), ("state.env", ["state.json"]),
        ("page.html", ["state.env", "state.json"]),
        ("problem.json", ["page.html", "state.env", "state.json"]),
        ("retry-after", ["page.html", "problem.json", "state.env", "state.json"]),
        ("unavailable", ["page.html", "problem.json", "retry-after", "state.env", "state.json"]),
    ])
    func aClosingThatCannotBeWrittenLeavesNoFileThatSaysOpen(
        _ file: String, _ left: [String]
    ) throws {
        let directory = directory()
        try publish(.running, .open, in: directory)
        // A directory at the temporary name fails the write like a full disk, also for root.
        try Directory.create(folder("shop/.\(file).tmp/x"))
        #expect(throws: FileError.self) { try publish(.ended, .closed, in: directory) }
        let names = { try Directory.list(folder("shop")).filter { !$0.hasPrefix(".") } }
        #expect(try names() == ["closed"] + left + ["unavailable"])
        if file != "state.json" {
            #expect(try PublishedState.read(in: folder("shop"))?.gate == .closed)
        } else {
            #expect(throws: UnreadableState.self) { try PublishedState.read(in: folder("shop")) }
        }
        try Directory.remove(folder("shop/.\(file).tmp/x"))
        try Directory.remove(folder("shop/.\(file).tmp"))
        try publish(.ended, .closed, in: directory)
        #expect(try names() == ["closed"] + Self.shown)
    }

    @Test func filesThatSayClosedStayIfTheNextClosingCannotBeWritten() throws {
        let directory = directory()
        try publish(.ended, .closed, in: directory)
        try Directory.create(folder("shop/.state.json.tmp/x"))
        #expect(throws: FileError.self) { try publish(.maintenance, .closed, in: directory) }
        #expect(try PublishedState.read(in: folder("shop"))?.state == .ended)
        #expect(try File.exists(folder("shop/state.env")))
    }

    /// The gate opens nevertheless. Beside the marker `closed` systemd would refuse to start every attached
    /// unit, and nothing would start them later.
    @Test func anOpeningThatCannotBeWrittenLeavesTheFilesAndOpensTheMarker() throws {
        let directory = directory()
        try publish(.ended, .closed, in: directory)
        try Directory.create(folder("shop/.state.json.tmp/x"))
        #expect(throws: FileError.self) { try publish(.running, .open, in: directory) }
        #expect(try File.exists(folder("shop/open")) && !File.exists(folder("shop/closed")))
        #expect(try PublishedState.read(in: folder("shop"))?.gate == .closed)
    }
}
