import Files
package import JSON

/// A stand-in for the services of Firebase Remote Config on loopback: `firebase-server.py`, which lists
/// its cases. It does not outlive the test.
package final class FirebaseServer: FlagServer {
    /// A server with nothing published yet.
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

    /// Publishes a client template with these entries.
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
