import ControlSocket
import Files
import Support
import Testing

/// The file of groups is replaced while the daemon runs.
@Suite struct ReplacedGroupFileTests {
    private let member = Peer(user: 1000, groups: [1000, 987])

    /// Writes a file of groups that was changed long ago, as far as it tells.
    private func write(_ group: Int, to path: String) throws {
        try File.replace(path, with: Array("killswitchd:x:\(group):\n".utf8), mode: 0o644)
        let result = try Program.run("/usr/bin/touch", ["-d", "@1", path])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Once members of a group that was given another ID could still act, where the new file had the size and the
    /// time of the old one.
    @Test func aFileOfTheSameSizeAndTimeCountsAtOnce() async throws {
        let folder = try TemporaryFolder()
        let path = folder("group")
        try write(987, to: path)
        let permission = Permission.followingThisProcess(groupFile: path)
        #expect(permission().mayAct(member))
        try await Support.waitUntil("the file has rested") {
            FileStamp(of: path).shows(unchangedSince: FileStamp(of: path))
        }
        #expect(permission().mayAct(member))
        try write(988, to: path)
        #expect(!permission().mayAct(member))
        try write(987, to: path)
        #expect(permission().mayAct(member))
        try File.remove(path)
        #expect(!permission().mayAct(member))
    }
}
