import Files
import Support
import Testing

/// What reviews flag documents before they are published, in a repository of Git.
@Suite(.timeLimit(.minutes(5))) struct ReviewTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try Directory.create(folder("flags"))
        try folder.write(#"{"state": "maintenance", "message": "At six."}"#, to: "flags/shop.json")
        try git("init", "--quiet").expect(0)
        try git("add", ".").expect(0)
    }

    private func git(_ arguments: String...) throws -> Program.Result {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        return try Program.run(
            "/usr/bin/git", ["-C", folder.path] + who + arguments, environment: environment)
    }

    private var environment: [String: String] {
        ["PATH": "\(Programs.folder):/usr/bin:/bin", "HOME": folder.path]
    }

    private static let review = "\(Programs.project)/packaging/review"

    /// The documents of the index count, whatever is in the folder.
    @Test func aCommitShowsItsPlanAndIsRefusedForWhatAHostWouldRefuse() throws {
        try folder.link("\(Self.review)/pre-commit", as: ".git/hooks/pre-commit")
        try git("commit", "--message", "x").expect(
            1, errors: "name the documents: git config killswitchd.documents")
        try git("config", "killswitchd.documents", "flags/*.json more").expect(0)
        try folder.write("{", to: "flags/shop.json")
        try git("commit", "--message", "x").expect(
            0, errors: "## `flags/shop.json`", "### document: maintenance and CLOSES at once",
            "| maintenance | closed |")
        try git("commit", "--all", "--message", "x").expect(1, errors: "not valid JSON")
        try folder.write(#"{"state": "running", "mesage": "`"}"#, to: "flags/shop.json")
        try git("commit", "--all", "--message", "x").expect(1, errors: "did you mean 'message'?")
        // A boolean needs another option.
        try folder.write("true", to: "flags/shop.json")
        try git("config", "killswitchd.plan", "--format boolean --closed-when true").expect(0)
        try git("commit", "--all", "--message", "x").expect(0, errors: "CLOSES at once")
        // One without documents has no plan.
        try folder.write("x", to: "README")
        try git("add", ".").expect(0)
        let other = try git("commit", "--message", "x").expect(0)
        #expect(!other.errors.contains("document"))
    }

    /// As a runner of GitHub runs the action: its command in bash, with its inputs in the environment.
    @Test func theActionPutsThePlanIntoTheSummary() throws {
        let action = try Programs.text(of: "packaging/review/action.yml")
        let lines = action.split(separator: "\n")
        let begin = try #require(lines.firstIndex(of: "      run: |"))
        let command = lines[(begin + 1)...].map { $0.dropFirst(8) }.joined(separator: "\n")
        let run = { (documents: String) in
            try Program.run(
                "/usr/bin/bash",
                [
                    "--noprofile", "--norc", "-e", "-o", "pipefail", "-c",
                    "cd \(folder.path)\n\(command)",
                ],
                environment: environment.merging([
                    "DOCUMENTS": documents, "OPTIONS": "--format switch",
                    "GITHUB_ACTION_PATH": Self.review, "GITHUB_STEP_SUMMARY": folder("summary"),
                ]) { $1 })
        }
        try run("*.json").expect(0, output: "CLOSES at once")
        #expect(try folder.text(of: "summary").contains("| maintenance | closed |"))
        try folder.write(#"{"state": "![](http://a/)"}"#, to: "flags/web.json")
        try git("add", ".").expect(0)
        try run("flags").expect(1, output: "## `flags/web.json`")
        #expect(try folder.text(of: "summary").contains("## `flags/web.json`"))
        try run("none").expect(2, errors: "no document was named")
        #expect(action.contains("DOCUMENTS: ${{ inputs.documents }}"))
        #expect(action.contains("OPTIONS: ${{ inputs.options }}"))
    }
}
