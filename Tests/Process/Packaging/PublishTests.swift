import Files
import Glibc
import Support
import Testing

/// `packaging/repository/publish`, with a key and a package of the test.
@Suite(.timeLimit(.minutes(5))) struct PublishTests {
    private let folder: TemporaryFolder

    /// A key that signs without a question, and a package without files.
    init() throws {
        folder = try TemporaryFolder()
        try Directory.create(folder("keys"), mode: 0o700)
        try Directory.create(folder("package/DEBIAN"))
        try folder.write(
            "Package: killswitchd\nVersion: 0.1-1\nArchitecture: amd64\n"
                + "Maintainer: ops <ops@example.com>\nDescription: a test\n",
            to: "package/DEBIAN/control")
        try shell(
            "dpkg-deb --build --root-owner-group package a.deb >&2 && gpg --batch --quiet "
                + "--passphrase '' --quick-generate-key ops@example.com ed25519 sign 2y"
        ).expect(0)
    }

    private func shell(_ command: String) throws -> Program.Result {
        let script = """
            cd '\(folder.path)' && export GNUPGHOME=$PWD/keys && \(command)
            """
        return try Program.run("/bin/bash", ["-c", script])
    }

    private func publish(_ arguments: String, before: String = "") throws -> Program.Result {
        try shell(
            "key=$(gpg --with-colons --list-secret-keys | awk -F: '$1 == \"fpr\" { print $10; exit }') && "
                + "\(before) timeout 60 '\(Programs.project)/packaging/repository/publish' out $key \(arguments)"
        )
    }

    @Test func aSignedListEndsAndIsRenewedWithoutPackages() throws {
        try publish("bookworm=a.deb").expect(0, output: "hosts accept these lists until ")
        let days = """
            read_time() { date --date="$(sed -n "s/^$1: //p" out/dists/bookworm/InRelease)" +%s; }
            echo $((($(read_time Valid-Until) - $(read_time Date)) / 86400))
            """
        #expect(try shell(days).output == "30\n")
        try publish("", before: "VALID_DAYS=90").expect(0)
        #expect(try shell(days).output == "90\n")
        try publish("", before: "VALID_DAYS=0").expect(0)
        try shell("grep -c Valid-Until out/dists/bookworm/InRelease").expect(1, output: "0\n")
        try publish("", before: "VALID_DAYS=soon").expect(1, errors: "a number of days is needed")
    }

    /// Whoever may read a folder may lock it: a web server had kept the publisher out.
    @Test func nobodyWhoMayReadTheFolderKeepsThePublisherOut() throws {
        try publish("bookworm=a.deb", before: "mkdir out && flock out").expect(0)
        let lock = try File.attributes(of: folder("out/.publish.lock"))
        #expect(lock.mode & 0o777 == 0o600)
        try publish("", before: "flock out/.publish.lock").expect(
            1, errors: "somebody else is publishing there, process ", " of ", "; wait for the end")
        try shell("rm out/.publish.lock; ln -s /etc/passwd out/.publish.lock").expect(0)
        try publish("").expect(1, errors: "it is not a file of yours")
    }
}
