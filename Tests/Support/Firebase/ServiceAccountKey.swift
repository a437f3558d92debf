package import JSON

/// A key of a service account in the form of Google Cloud, made by a test.
package struct ServiceAccountKey {
    package let email: String
    package let id: String
    private let folder: TemporaryFolder
    private let tokenURL: String

    /// Makes a key; `server` does not know it yet.
    package init(_ id: String, of email: String = "flags@demo.iam", for server: FirebaseServer)
        throws
    {
        self.id = id
        self.email = email
        folder = try TemporaryFolder()
        tokenURL = "\(server.url)/token"
        try Program.succeed(
            "/usr/bin/openssl",
            [
                "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out",
                folder("key.pem"),
            ])
    }

    /// The key `first`, which the server knows.
    package static func enrolled(at server: FirebaseServer) throws -> ServiceAccountKey {
        let key = try ServiceAccountKey("first", for: server)
        try key.enroll(at: server)
        return key
    }

    /// The key itself: PKCS #8 in PEM.
    package var privateKey: String { get throws { try folder.text(of: "key.pem") } }

    /// The JSON file, with these changes of its members.
    package func json(_ changes: JSON.Object = [:]) throws -> String {
        var members: JSON.Object = [
            "type": "service_account", "project_id": "demo", "private_key_id": .string(id),
            "private_key": .string(try privateKey),
            "client_email": .string(email), "token_uri": .string(tokenURL),
        ]
        for (key, value) in changes { members[key] = value }
        return JSON.Value.object(members).serialized(.pretty)
    }

    /// Registers this key of the account at the server, in place of any other.
    package func enroll(at server: FirebaseServer) throws {
        let shown = try Program.succeed(
            "/usr/bin/openssl", ["rsa", "-in", folder("key.pem"), "-noout", "-modulus"])
        let modulus = shown.split(separator: "\n").first?.split(separator: "=").last ?? ""
        let keys: JSON.Value = .object(JSON.Object([(id, .string(String(modulus)))]))
        try server.folder.write(
            JSON.Value.object(JSON.Object([(email, keys)])).serialized(), to: "accounts.json")
    }
}
