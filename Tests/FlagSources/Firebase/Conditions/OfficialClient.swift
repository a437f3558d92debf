import Files
import FlagSources
import JSON
import Support

/// The results of the official client for servers on generated templates.
struct OfficialClient {
    /// Parameters with a remote value, by case.
    let answers: [JSON.Object]
    /// How often each operator was false, and how often true.
    let counts: [String: (no: Int64, yes: Int64)]

    init(_ cases: [TemplateGenerator.Case]) throws {
        let folder = try TemporaryFolder()
        let lines = cases.map { generated in
            JSON.Value.object(["template": .object(generated.template), "context": generated.json])
                .serialized()
        }
        try folder.write(lines.joined(separator: "\n") + "\n", to: "cases")
        let ended = try Program.run(
            try PythonEnvironment.ready().python,
            [Self.script(), folder("cases"), folder("answers"), folder("counts")])
        guard ended.status == 0 else {
            throw TestFailure("run the official client: \(ended.errors)")
        }
        answers = try folder.text(of: "answers").split(separator: "\n").map { line in
            try JSON.Value.parse(Array(line.utf8)).object ?? JSON.Object()
        }
        let counted = try JSON.Value.parse(try folder.text(of: "counts")).object ?? JSON.Object()
        counts = Dictionary(
            uniqueKeysWithValues: counted.members.map { key, value in
                let pair = value.array?.compactMap { $0.number?.int64 } ?? []
                return (key, (pair.first ?? 0, pair.last ?? 0))
            })
    }

    private static func script(here: String = #filePath) -> String {
        "/\(here.split(separator: "/").dropLast().joined(separator: "/"))/official-client.py"
    }
}
