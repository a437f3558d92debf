import CivilTime
import Files
import Signing
import Support
import Testing

/// Files in the format of ssh-keygen(1), ALLOWED SIGNERS, and their errors.
@Suite(.timeLimit(.minutes(5))) struct AllowedSignersTests {
    private static let key =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"

    private func error(_ text: String, zone: Zone = .utc) -> String? {
        do throws(AllowedSignersError) {
            _ = try AllowedSigners(Array(text.utf8), zone: zone)
            return nil
        } catch {
            return error.description
        }
    }

    /// A link of /etc/localtime that led nowhere counted as UTC: a key counted hours too early or too late.
    @Test func onlyALocalTimeNeedsTheTimeZoneOfTheSystem() {
        let zone = Zone.unknown("localtime")
        #expect(error("alice valid-after=\"20260101Z\" \(Self.key)", zone: zone) == nil)
        #expect(
            error("alice valid-after=\"20260101\" \(Self.key)", zone: zone)
                == "line 1: '20260101' of 'valid-after' is a local time, and the time zone of the system "
                + "cannot be read; write it in UTC, with a Z")
    }

    @Test(arguments: [
        "alice \(key)", "\n# nobody\n \t# here\r\n\r\nalice \(key)\r\n", "  alice\t\(key)\tcomment",
        "\"alice a.\" \(key)", "alice,bob \(key) x y z", "ålice \(key)",
        "alice namespaces=\"killswitchd\" \(key)",
        "alice NAMESPACES=\"a b,c\",valid-after=\"20260101\",valid-before=\"202612312359Z\" \(key)",
        "alice valid-before=\"99991231235959\" \(key)",
    ])
    func aFileThatSSHKeygenTakesIsTaken(text: String) {
        #expect(error(text) == nil)
    }

    @Test(arguments: [
        ("", "the file lists no signer, so every document would be refused"),
        ("# nobody\n", "the file lists no signer, so every document would be refused"),
        ("alice ssh-ed25519", "the key is missing"),
        ("alice,,\u{301}bob \(key)", "a name is empty"),
        (",\u{301}alice \(key)", "a name is empty"),
        ("alice namespaces=\"x\"", "the key is missing"),
        ("alice cert-authority \(key)", "the option 'cert-authority' is not supported"),
        (
            "alice namespaces=\"x\",cert-authority \(key)",
            "the option 'cert-authority' is not supported"
        ),
        (
            "alice no-touch-required,x=\"\" \(key)",
            "the option 'no-touch-required' is not supported"
        ),
        ("alice valid-after=\"20260101\", \(key)", "the option '' is not supported"),
        ("alice namespaces=x \(key)", "the option 'namespaces' needs a value in double quotes"),
        ("alice namespaces=\"\" \(key)", "the option 'namespaces' needs a value in double quotes"),
        ("alice namespaces=\"a\",namespaces=\"b\" \(key)", "the option 'namespaces' stands twice"),
        ("alice namespaces=\"a \(key)", "a double quote is not closed"),
        (
            "alice valid-after=\"20260230\" \(key)",
            "'20260230' of 'valid-after' is not a time such as 20270331 or 20270331235959Z"
        ),
        (
            "alice valid-before=\"2026-01-01\" \(key)",
            "'2026-01-01' of 'valid-before' is not a time such as 20270331 or 20270331235959Z"
        ),
        (
            "alice valid-after=\"20260101\",valid-before=\"20260101\" \(key)",
            "'valid-before' is not later than 'valid-after'"
        ),
        ("*@example.com \(key)", "'*@example.com' is a pattern, and an author needs a name"),
        ("alice,!bob \(key)", "'!bob' is a pattern, and an author needs a name"),
        ("alice,,bob \(key)", "a name is empty"),
        ("\"\" \(key)", "a name is empty"),
        (
            "al\u{202E}ice \(key)",
            "a name has other than visible characters, or more than 255 bytes"
        ),
        (
            "alice ssh-rsa AAAA",
            "'ssh-rsa' is not an accepted type of key; accepted: "
                + "ssh-ed25519, sk-ssh-ed25519@openssh.com, ecdsa-sha2-nistp256, "
                + "sk-ecdsa-sha2-nistp256@openssh.com"
        ),
        ("alice ssh-ed25519 AAA", "the key is not base64"),
        ("alice ssh-ed25519 AAAA", "the type of the key is cut short"),
        ("alice ecdsa-sha2-nistp256 \(key.dropFirst(12))", "the key is of the type 'ssh-ed25519'"),
        (
            "alice ssh-ed25519 \(Base64.text(of: wire("ssh-ed25519") + wire("short")))",
            "the key is not of 32 bytes"
        ),
        (
            "alice ssh-ed25519 \(Base64.text(of: wire("ssh-ed25519") + wire(point) + [0]))",
            "bytes follow the key"
        ),
        (
            "alice ecdsa-sha2-nistp256 \(curveKey(named: "nistp384"))",
            "the key is on another curve than nistp256"
        ),
        (
            "alice ecdsa-sha2-nistp256 \(curveKey(named: "nistp256"))",
            "the key is not a point of its curve"
        ),
    ])
    func aFileThatIsNotSupportedIsAnErrorWithItsLine(text: String, expected: String) {
        #expect(error(text) == "line 1: \(expected)")
    }

    private static let point = [UInt8](repeating: 1, count: 32)

    /// A key on a curve, which has no such point.
    private static func curveKey(named curve: String) -> String {
        Base64.text(of: wire("ecdsa-sha2-nistp256") + wire(curve) + wire([4] + point + point))
    }

    @Test func theLineOfAnErrorIsCounted() {
        #expect(error("\nalice") == "line 2: the key is missing")
    }

    @Test func bytesThatAreNoTextAreAnError() throws {
        let lines = Array("alice \(Self.key)\nbob".utf8) + [0xFF]
        #expect(throws: AllowedSignersError.self) { try AllowedSigners(lines, zone: .utc) }
        let long = [UInt8](repeating: UInt8(ascii: "#"), count: AllowedSigners.maximumSize + 1)
        #expect(throws: AllowedSignersError.self) { try AllowedSigners(long, zone: .utc) }
    }

    /// A list of the greatest size, all of its lines one person, is read without a deep recursion.
    @Test func aHugeListIsRead() throws {
        let lines = (0..<9_000).map { "a\($0),a\($0 + 1) \(Self.key)\n" }.joined()
        #expect(lines.utf8.count <= AllowedSigners.maximumSize)
        #expect(error(lines) == nil)
    }
}
