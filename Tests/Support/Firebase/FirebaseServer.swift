import Files
package import JSON

/// A stand-in for the services of Firebase Remote Config on loopback: `firebase-server.py`, which lists
/// its cases. It does not outlive the test.
package final class FirebaseServer: FlagServer {
    package init() async throws { try await super.init(script: "firebase-server.py") }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Publishes a server template of these parameters, each with a default value.
    package func publish(
        server parameters: JSON.Object, version: Int, conditions: JSON.Value = [],
        conditional: JSON.Object = [:]
    ) throws {
        var members = JSON.Object()
        for (key, value) in parameters {
            var parameter: JSON.Object = ["defaultValue": ["value": value], "valueType": "STRING"]
            parameter["conditionalValues"] = conditional[key]
            members[key] = .object(parameter)
        }
        let template: JSON.Value = [
            "conditions": conditions, "parameters": .object(members),
            "version": ["versionNumber": .string("\(version)"), "updateOrigin": "CONSOLE"],
        ]
        try folder.write(template.serialized(), to: "server-template.json")
    }

    package func publish(client entries: JSON.Object, version: Int) throws {
        let answer: JSON.Value = [
            "entries": .object(entries), "templateVersion": .string("\(version)"),
        ]
        if try File.exists(folder("client.json")) {
            try folder.write(try folder.text(of: "client.json"), to: "client-before.json")
        }
        try folder.write(answer.serialized(), to: "client.json")
    }

    /// All requests so far whose path ends in `path`, in their order.
    package func requests(to path: String) throws -> [Request] {
        try requests.filter { $0.path.hasSuffix(path) }
    }
}

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
