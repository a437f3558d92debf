import Files
package import JSON

/// What stands in for the services of Firebase Remote Config on loopback: `firebase-server.py`, which
/// lists how it can behave. It does not outlive the test.
package final class FirebaseServer {
    package let folder: TemporaryFolder
    package let port: Int
    private var program: Program?

    /// A server with nothing published yet.
    package init() async throws {
        folder = try TemporaryFolder()
        program = try Program(
            "/usr/bin/python3", [Programs.file("Firebase/firebase-server.py"), folder.path])
        let (folder, program) = (folder, program)
        try await waitUntil("the server listens", orTell: { try program?.errors ?? "" }) {
            try File.exists(folder("now"))
        }
        let text = try folder.text(of: "port")
        guard let port = Int(text) else { throw TestFailure("the server's port is '\(text)'") }
        self.port = port
    }

    deinit { program = nil }

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

    /// Publishes a client template, of which every fetch gets these entries.
    package func publish(client entries: JSON.Object, version: Int) throws {
        let answer: JSON.Value = [
            "entries": .object(entries), "templateVersion": .string("\(version)"),
        ]
        if try File.exists(folder("client.json")) {
            try folder.write(try folder.text(of: "client.json"), to: "client-before.json")
        }
        try folder.write(answer.serialized(), to: "client.json")
    }

    /// Has it behave like this from now on; returns once it does.
    package func behave(_ name: String) async throws {
        try folder.write(name, to: "case")
        try await waitUntil(
            "the server behaves like '\(name)'", orTell: { try self.program?.errors ?? "" }
        ) {
            try self.folder.text(of: "now") == name
        }
    }

    /// All requests that came and end in this path, in their order.
    package func requests(to path: String) throws -> [Request] {
        guard try File.exists(folder("requests")) else { return [] }
        // The last line may be on its way.
        let lines = try folder.text(of: "requests").split(
            separator: "\n", omittingEmptySubsequences: false)
        return try lines.dropLast().compactMap { line in
            guard let object = try JSON.Value.parse(Array(line.utf8)).object,
                let headers = object["headers"]?.object,
                let asked = object["path"]?.string, asked.hasSuffix(path)
            else { return nil }
            let pairs = headers.members.map { ($0.key, $0.value.string ?? "") }
            return Request(
                path: asked, headers: Dictionary(pairs) { first, _ in first },
                body: object["body"]?.string ?? "")
        }
    }

    /// A request that came.
    package struct Request {
        package let path: String
        /// By name in lower case.
        package let headers: [String: String]
        package let body: String
    }
}

/// The key of a service account as Google Cloud gives it out, made by a test.
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
        let made = try Program.run(
            "/usr/bin/openssl",
            [
                "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out",
                folder("key.pem"),
            ])
        guard made.status == 0 else { throw TestFailure("make a key: \(made.errors)") }
    }

    /// The JSON file; some of it may be put wrong.
    package func json(_ changes: JSON.Object = [:]) throws -> String {
        var members: JSON.Object = [
            "type": "service_account", "project_id": "demo", "private_key_id": .string(id),
            "private_key": .string(try folder.text(of: "key.pem")),
            "client_email": .string(email), "token_uri": .string(tokenURL),
        ]
        for (key, value) in changes { members[key] = value }
        return JSON.Value.object(members).serialized(.pretty)
    }

    /// Lets the server know this key of the account, and no other.
    package func enroll(at server: FirebaseServer) throws {
        let shown = try Program.run(
            "/usr/bin/openssl", ["rsa", "-in", folder("key.pem"), "-noout", "-modulus"])
        let modulus = shown.output.split(separator: "\n").first?.split(separator: "=").last ?? ""
        let keys: JSON.Value = .object(JSON.Object([(id, .string(String(modulus)))]))
        try server.folder.write(
            JSON.Value.object(JSON.Object([(email, keys)])).serialized(), to: "accounts.json")
    }
}
