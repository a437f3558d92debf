import Files
import JSON

/// A server of flags on loopback with a selectable behaviour: `Server/flag-server.py` or another script
/// there, which lists its cases. It does not outlive the test.
package class FlagServer {
    package let folder: TemporaryFolder
    package let port: Int
    private var program: Program?

    /// Starts a server, which first answers with the flags of a running service.
    package init(isSecure: Bool = false, script: String = "flag-server.py") async throws {
        folder = try TemporaryFolder()
        port = try freePort()
        if isSecure { try Self.makeCertificates(in: folder) }
        program = try Program(
            "/usr/bin/python3",
            // -B: Python writes no bytecode into the source folder.
            ["-B", Self.script(script), folder.path, "\(port)"] + (isSecure ? ["--tls"] : []))
        let (folder, program) = (folder, program)
        try await waitUntil("the server listens", orReport: { try program?.errors ?? "" }) {
            try File.exists(folder("now"))
        }
    }

    /// Ends the program before its folder is removed, because it writes there.
    deinit { program = nil }

    /// Makes `authority.pem`, `server.pem`, `client.crt`, `client.key` and others in a folder.
    package static func makeCertificates(in folder: TemporaryFolder) throws {
        try Program.succeed(script("make-certificates"), [folder.path])
    }

    /// The body of every bad answer: an order to close, which no daemon may take.
    package let order = #"{"apiInactive": true, "forceUpdate": false}"#

    /// Selects a case; returns once the server follows it.
    package func behave(_ name: String) async throws {
        try folder.write(name, to: "case")
        try await waitUntil(
            "the server behaves like '\(name)'", orReport: { try self.program?.errors ?? "" }
        ) {
            try self.folder.text(of: "now") == name
        }
    }

    package struct Request {
        /// In seconds since 1970.
        package let time: Double
        /// The selected case at that time.
        package let behaviour: String
        package let method: String
        package let path: String
        /// By name in lower case.
        package let headers: [String: String]
        package let body: String
    }

    package var requests: [Request] {
        get throws {
            guard try File.exists(folder("requests")) else { return [] }
            // The last line may be incomplete.
            let lines = try folder.text(of: "requests").split(
                separator: "\n", omittingEmptySubsequences: false)
            return try lines.dropLast().compactMap { line in
                guard let object = try JSON.Value.parse(Array(line.utf8)).object,
                    let headers = object["headers"]?.object
                else { return nil }
                return Request(
                    time: Double(object["time"]?.serialized() ?? "") ?? 0,
                    behaviour: object["case"]?.string ?? "",
                    method: object["method"]?.string ?? "", path: object["path"]?.string ?? "",
                    headers: Dictionary(
                        headers.members.map { ($0.key, $0.value.string ?? "") },
                        uniquingKeysWith: { first, _ in first }),
                    body: object["body"]?.string ?? "")
            }
        }
    }

    /// The path of a program in `Server/`.
    package static func script(_ name: String) -> String { Programs.file("Server/\(name)") }
}

extension [Double] {
    /// From each of these times to the next.
    package var pauses: [Double] { zip(dropFirst(), self).map { $0 - $1 } }
}

/// How long tests wait for a condition. It ends a hang, and measures nothing: what a daemon repeats it repeats after
/// waits that double, so a test that came late because the machine was busy has to wait as long again.
package let longestWait: Duration = .seconds(120)

/// Waits for a condition for at most `limit`, and checks it each `interval`, ten times at least: on a busy machine
/// a test may not run for longer than the limit. Other tests may use the thread between two checks. A
/// check that starts a program deserves a longer interval.
package func waitUntil(
    _ what: String, every interval: Duration = .milliseconds(10), limit: Duration = longestWait,
    orReport detail: () throws -> String = { "" }, _ condition: () throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    var checks = 1
    while try !holds(condition) {
        guard checks < 10 || clock.now < deadline else {
            throw TestFailure("timed out waiting until \(what)\n\(try detail())")
        }
        checks += 1
        try await clock.sleep(for: interval)
    }
}

/// Whether a condition holds. It does not yet where it reads a file that is not there yet.
package func holds(_ condition: () throws -> Bool) throws -> Bool {
    do {
        return try condition()
    } catch let error as FileError where error.isNotFound {
        return false
    }
}
