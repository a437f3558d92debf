import Glibc
import Testing

extension PathWatchTests {
    /// A change in a folder in which `path` is watched.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var path = "dir/file"
        var before: @Sendable (Scratch) -> Void = { scratch in
            scratch.makeDirectory("dir")
            scratch.write("dir/file")
        }
        /// Restores the path, if the change removes it.
        var back: (@Sendable (Scratch) -> Void)?
        let change: @Sendable (Scratch) -> Void
    }

    /// A mounted ConfigMap: `file` → `..data/file`, `..data` → the folder of the current version.
    @Sendable static func configMap(_ scratch: Scratch) {
        for version in ["..1", "..2"] {
            scratch.makeDirectory(version)
            scratch.write("\(version)/file", version)
        }
        scratch.link("..data", to: "..1")
        scratch.link("file", to: "..data/file")
    }

    /// `dir` → `middle` → `real`, the second by an absolute path with a detour.
    @Sendable static func chain(_ scratch: Scratch) {
        scratch.makeDirectory("real")
        scratch.makeDirectory("other")
        scratch.write("real/file")
        scratch.write("other/file")
        scratch.link("middle", to: "\(scratch.path)/other/.././/real/")
        scratch.link("dir", to: "middle")
    }

    static let reported: [Change] = [
        Change(testDescription: "written in place") { $0.write("dir/file") },
        Change(testDescription: "emptied in place") { $0.write("dir/file", "") },
        Change(testDescription: "replaced") { $0.replace("dir/file") },
        Change(testDescription: "deleted", back: { $0.write("dir/file") }) {
            $0.remove("dir/file")
        },
        Change(testDescription: "deleted and made again") {
            $0.remove("dir/file")
            $0.write("dir/file")
        },
        Change(testDescription: "moved away", back: { $0.rename("elsewhere", "dir/file") }) {
            $0.rename("dir/file", "elsewhere")
        },
        Change(testDescription: "made where there was none", before: { $0.makeDirectory("dir") }) {
            $0.write("dir/file")
        },
        Change(testDescription: "linked where there was none", before: { $0.makeDirectory("dir") })
        {
            $0.write("new")
            $0.link("dir/file", to: "../new")
        },
        Change(testDescription: "mode changed") { unsafe _ = chmod($0("dir/file"), 0o600) },
        Change(testDescription: "a directory in its place") {
            $0.remove("dir/file")
            $0.makeDirectory("dir/file")
        },
        Change(
            testDescription: "directory deleted",
            back: {
                $0.makeDirectory("dir")
                $0.write("dir/file")
            }
        ) { $0.remove("dir") },
        Change(testDescription: "directory deleted and made again with the file") {
            $0.remove("dir")
            $0.makeDirectory("dir")
            $0.write("dir/file")
        },
        Change(testDescription: "directory moved away", back: { $0.rename("gone", "dir") }) {
            $0.rename("dir", "gone")
        },
        Change(testDescription: "directory made with the file", before: { _ in }) {
            $0.makeDirectory("dir")
            $0.write("dir/file")
        },
        Change(testDescription: "directories above it made", path: "a/b/c/file", before: { _ in }) {
            $0.makeDirectory("a")
            $0.makeDirectory("a/b")
            $0.makeDirectory("a/b/c")
            $0.write("a/b/c/file")
        },
        Change(
            testDescription: "a directory far above it moved", path: "a/b/file",
            before: {
                $0.makeDirectory("a")
                $0.makeDirectory("a/b")
                $0.write("a/b/file")
            },
            back: { $0.rename("z", "a") }
        ) { $0.rename("a", "z") },
        Change(testDescription: "..data swapped", path: "file", before: configMap) {
            $0.relink("..data", to: "..2")
        },
        Change(testDescription: "written behind links", path: "file", before: configMap) {
            $0.write("..1/file")
        },
        Change(testDescription: "its own link swapped", path: "file", before: configMap) {
            $0.relink("file", to: "..2/file")
        },
        Change(testDescription: "first link of a chain", before: chain) {
            $0.relink("dir", to: "other")
        },
        Change(testDescription: "second link of a chain", before: chain) {
            $0.relink("middle", to: "other")
        },
        Change(
            testDescription: "a detour of a chain removed", before: chain,
            back: { $0.makeDirectory("other") }
        ) { $0.remove("other") },
        Change(testDescription: "file at the end of a chain replaced", before: chain) {
            $0.replace("real/file")
        },
        Change(
            testDescription: "a link that led nowhere", path: "file",
            before: { $0.link("file", to: "target") }
        ) { $0.write("target") },
        Change(
            testDescription: "a loop of links broken", path: "one",
            before: {
                $0.link("one", to: "two")
                $0.link("two", to: "one")
            }
        ) { $0.replace("two") },
        Change(
            testDescription: "one link too many taken out", path: "40",
            before: { scratch in
                scratch.write("file")
                scratch.link("0", to: "file")
                for link in 1...40 { scratch.link("\(link)", to: "\(link - 1)") }
            }
        ) { $0.relink("1", to: "file") },
        Change(
            testDescription: "a path that is not ASCII", path: "é/ファイル",
            before: { $0.makeDirectory("é") }
        ) { $0.write("é/ファイル") },
    ]

    static let unlogged: [Change] = [
        Change(testDescription: "another file made") { $0.write("dir/other") },
        Change(testDescription: "another file beside the directory") { $0.write("other") },
        Change(testDescription: "another name that begins alike") { $0.write("dir/file.new") },
        Change(
            testDescription: "another file replaced",
            before: {
                $0.makeDirectory("dir")
                $0.write("dir/file")
                $0.write("dir/other")
            }
        ) { $0.replace("dir/other") },
        Change(testDescription: "read") { #expect($0.read("dir/file") == "x") },
        Change(
            testDescription: "the folder of a ConfigMap to come", path: "file", before: configMap
        ) {
            $0.makeDirectory("..3")
            $0.write("..3/file")
        },
    ]
}
