import Files
import Signing

/// A private key in a folder, as `ssh-keygen` makes and uses it.
package struct SigningKey {
    package let folder: TemporaryFolder
    package let name: String

    /// Makes a key of this type, such as `ed25519`.
    package init(_ type: String, in folder: TemporaryFolder, name: String = "key") throws {
        self.folder = folder
        self.name = name
        // The smallest RSA key there is: making one takes long, and no RSA key is accepted.
        let bits = type == "rsa" ? ["-b", "1024"] : []
        try Program.succeed(
            Self.keygen, ["-q", "-t", type] + bits + ["-N", "", "-C", name, "-f", folder(name)])
    }

    /// The type and the key, as a line of `allowed_signers` has them.
    package var publicText: String {
        get throws {
            try folder.text(of: "\(name).pub").split(separator: " ").prefix(2)
                .joined(separator: " ")
        }
    }

    package func sign(
        _ text: String, namespace: String = "killswitchd", hash: String = "sha512"
    ) throws -> String {
        try folder.write(text, to: "\(name).text")
        try? File.remove(folder("\(name).text.sig"))
        try Program.succeed(
            Self.keygen,
            [
                "-q", "-Y", "sign", "-n", namespace, "-O", "hashalg=\(hash)", "-f", folder(name),
                folder("\(name).text"),
            ])
        return try folder.text(of: "\(name).text.sig")
    }

    private static let keygen = "/usr/bin/ssh-keygen"
}

/// A security key of FIDO in software: it signs as an authenticator does (OpenSSH's PROTOCOL.u2f).
package struct SoftwareSecurityKey {
    /// The two kinds of keys that authenticators have.
    package enum Kind: String, CaseIterable, Sendable {
        case ed25519 = "sk-ssh-ed25519@openssh.com"
        case ecdsa = "sk-ecdsa-sha2-nistp256@openssh.com"
    }

    package let folder: TemporaryFolder
    private let kind: Kind
    private let point: [UInt8]

    package init(_ kind: Kind = .ed25519, in folder: TemporaryFolder) throws {
        self.folder = folder
        self.kind = kind
        let algorithm =
            kind == .ed25519
            ? ["ED25519"] : ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        try Self.openssl(["genpkey", "-algorithm"] + algorithm + ["-out", folder("token")])
        try Self.openssl([
            "pkey", "-in", folder("token"), "-pubout", "-outform", "DER", "-out",
            folder("token.pub"),
        ])
        point = try File.read(folder("token.pub"), limit: 1_000)
            .suffix(kind == .ed25519 ? 32 : 65)
    }

    private static let application = "ssh:"

    private var key: [UInt8] {
        let curve = kind == .ed25519 ? [] : wire("nistp256")
        return wire(kind.rawValue) + curve + wire(point) + wire(Self.application)
    }

    package var publicText: String { "\(kind.rawValue) \(Base64.text(of: key))" }

    /// The armoured signature; bit 0 of `flags` says that somebody touched the key.
    package func sign(_ text: String, flags: UInt8 = 1, counter: UInt8 = 7) throws -> String {
        let message =
            Array("SSHSIG".utf8) + wire("killswitchd") + wire("") + wire("sha256")
            + wire(SHA256.digest(of: Array(text.utf8)))
        let state: [UInt8] = [flags, 0, 0, 0, counter]
        let signed =
            SHA256.digest(of: Array(Self.application.utf8)) + state + SHA256.digest(of: message)
        try File.replace(folder("signed"), with: signed)
        let digest = kind == .ed25519 ? [] : ["-digest", "sha256"]
        try Self.openssl(
            ["pkeyutl", "-sign", "-rawin"] + digest + [
                "-inkey", folder("token"), "-in", folder("signed"), "-out", folder("signature"),
            ])
        var signature = try File.read(folder("signature"), limit: 1_000)
        if kind == .ecdsa { signature = Self.numbers(in: signature) }
        return armour(
            blob(key: key, hash: "sha256", signature: wire(kind.rawValue) + wire(signature) + state)
        )
    }

    /// The two numbers of an ECDSA signature in DER, as SSH writes them: strings with the bytes of their INTEGERs.
    private static func numbers(in der: [UInt8]) -> [UInt8] {
        let first = Int(der[3])
        let second = Int(der[5 + first])
        return wire(der[4..<4 + first]) + wire(der[6 + first..<6 + first + second])
    }

    private static func openssl(_ arguments: [String]) throws {
        try Program.succeed("/usr/bin/openssl", arguments)
    }
}

/// A signature by PROTOCOL.sshsig, before its armour.
package func blob(
    key: [UInt8], namespace: String = "killswitchd", reserved: String = "", hash: String,
    signature: [UInt8]
) -> [UInt8] {
    let head: [UInt8] = Array("SSHSIG".utf8) + [0, 0, 0, 1]
    return [head, wire(key), wire(namespace), wire(reserved), wire(hash), wire(signature)]
        .flatMap { $0 }
}

/// Bytes as a string of SSH's wire format.
package func wire(_ bytes: some Collection<UInt8>) -> [UInt8] {
    [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
}

/// A text as a string of SSH's wire format.
package func wire(_ text: String) -> [UInt8] { wire(Array(text.utf8)) }

/// Base64 between the two lines, in lines of 70 characters.
package func armour(_ bytes: [UInt8]) -> String { armour(text: Base64.text(of: bytes)) }

/// A text between the two lines.
package func armour(text: String) -> String {
    var lines = ["-----BEGIN SSH SIGNATURE-----"]
    var rest = text[...]
    while !rest.isEmpty {
        lines.append(String(rest.prefix(70)))
        rest = rest.dropFirst(70)
    }
    return (lines + ["-----END SSH SIGNATURE-----", ""]).joined(separator: "\n")
}
