import CivilTime
import Decision
import Testing

/// A version that rises so far that it is a mistake, or an attack.
@Suite struct VersionJumpTests {
    private func shop(_ name: String = "shop") throws -> Service {
        try service(name, format: .switchObject(.whole))
    }

    private static func flags(_ version: Int64) -> String {
        #"{"state":"running","version":\#(version)}"#
    }

    private static let far: Int64 = 1 << 32
    private static let rises: [(from: Int64?, to: Int64, isOne: Bool)] = [
        (1, far, false), (1, far + 1, false), (1, far + 2, true), (.min, .max, true),
        (-1, .max, true), (.max - 1, .max, true), (0, 1, false), (nil, 1_793_000_000_000, false),
        (nil, 1, false), (nil, .min, false), (nil, .max, true), (nil, .max - far, false),
        (nil, .max - far + 1, true),
    ]

    @Test(arguments: rises)
    func aJumpIsARiseOverTwoToThe32OrOneToTheEnd(from: Int64?, to: Int64, isOne: Bool) {
        #expect((VersionJump(from: from, to: to) != nil) == isOne)
    }

    /// It is told once for a source, however many services read it, and lasts until the next rise.
    @Test func aJumpIsToldOnceAndShownWhileItLasts() throws {
        var play = try Transcript([try shop(), try shop("web")]).answered(Self.flags(7))
        let source: SourceName = try named("app")
        let warnings = { (play: Transcript) in
            play.machine.view(of: source, at: play.now)?.warnings
        }
        try play.at(1, "app", answers: Self.flags(1 << 40))
        let warning =
            "version jumped from 7 to 1099511627776; lower versions are refused from now on. If this "
            + "is a mistake, type 'killswitchctl forget SOURCE'"
        #expect(warnings(play) == [warning])
        try play.at(2, "app", answers: Self.flags(1 << 40))
        try play.at(3, "app", answers: Self.flags(8))
        #expect(warnings(play) == [warning])
        try play.at(4, "app", answers: Self.flags(1 << 40 + 1))
        #expect(warnings(play) == [])
        let lines = play.text.split(separator: "\n").filter { $0.contains("version jumped") }
        #expect(lines == ["    log warning: source 'app': \(warning)"])
    }

    @Test func aJumpIsForgottenWithTheVersion() throws {
        var play = try Transcript([try shop()]).answered(Self.flags(.max))
        let source: SourceName = try named("app")
        #expect(play.machine.view(of: source, at: play.now)?.warnings.count == 1)
        play.at(1, .forget(source, by: "root (uid 0)"))
        #expect(play.machine.view(of: source, at: play.now)?.warnings == [])
        #expect(try play.states(at: 2, "app", answers: Self.flags(1)) == [.running])
        #expect(play.machine.view(of: source, at: play.now)?.warnings == [])
    }

    @Test func theLargestVersionIsToldAfterARestartToo() throws {
        let memory = try Memory.stored(
            Self.flags(.max), fetchedAt: "2027-03-01T10:00:00Z", state: .running,
            boot: "this-boot")
        let play = try Transcript([try shop()], memory: memory).started()
        #expect(play.text.contains("version 9223372036854775807 is almost the highest possible"))
    }

    /// A plain `forget` keeps the version of signed documents, so that the warning names the one that does not.
    @Test func aJumpOfSignedDocumentsNamesTheOrderThatLetsGoOfIt() throws {
        let source: SourceName = try named("app")
        var play = try Transcript.signed(try service())
        let flags = #"{"service_end":"no""#
        try play.accept(1, try signedOrder(flags, version: 7, by: ["alice"]))
        try play.accept(2, try signedOrder(flags, version: 1 << 40, by: ["alice"]))
        let warning =
            "version jumped from 7 to 1099511627776; lower versions are refused from now on. If this "
            + "is a mistake, type 'killswitchctl forget SOURCE --version --reason TEXT'"
        #expect(play.machine.view(of: source, at: play.now)?.warnings == [warning])
        play.at(3, .forget(source, by: "root (uid 0)"))
        try play.accept(4, try signedOrder(flags, version: 1 << 40, by: ["alice"]))
        #expect(play.machine.view(of: source, at: play.now)?.warnings == [warning])
    }
}
