import CivilTime
import Decision
import Files
import Glibc
import Storage
import Support
import Testing

/// `state.env` as systemd's `EnvironmentFile=` reads it, on a booted systemd.
@Suite struct SystemdEnvironmentTests {
    @Test(.enabled(if: geteuid() == 0, "booting a systemd needs root"), .timeLimit(.minutes(5)))
    func systemdReadsBackTheSameBytes() throws {
        let folder = try TemporaryFolder()
        let texts = EnvironmentFileTests.texts
        var unit = "[Service]\nType=oneshot\n"
        for (index, text) in texts.enumerated() {
            var verdict = try verdict(.maintenance, .closed)
            verdict.texts.title = text
            verdict.texts.message = text
            let file = EnvironmentFile.text(of: try record(verdict), for: try service())
            try folder.write(
                file.replacing("KILLSWITCH_TITLE=", with: "TITLE_\(index)="), to: "\(index).env")
            unit += "EnvironmentFile=/test/\(index).env\n"
            unit += "ExecStart=/bin/sh -c 'printf %%s \"$TITLE_\(index)\" > /test/\(index).out'\n"
        }
        try folder.write(unit, to: "read.service")
        let result = try Program.run(
            "\(systemTests)/boot-once", [folder("read.service"), folder.path],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        #expect(result.status == 0, "\(result.errors)")
        for (index, text) in texts.enumerated() {
            #expect(
                try File.read(folder("\(index).out"), limit: 1 << 20)
                    == EnvironmentFileTests.bytes(of: text), "of \(text.debugDescription)")
        }
    }

    private var systemTests: String {
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/System"
    }
}
