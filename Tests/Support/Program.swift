import Files
import Glibc
package import Testing

/// A program that a test runs: its output goes to files, and it does not outlive the test.
package final class Program {
    package let processID: Int32
    private let folder: TemporaryFolder
    private var status: Int32?

    /// Starts `path` with these arguments. The environment is the one given and nothing else.
    package init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws
    {
        folder = try TemporaryFolder()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let flags = O_CREAT | O_WRONLY | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, folder("out"), flags, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, folder("err"), flags, 0o600)
        // The threads that tests run on block nearly every signal, and a program would inherit that.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = environment.merging(Self.always) { own, _ in own }
        var identifier: pid_t = 0
        let code = unsafe withCStrings([path] + arguments) { argv in
            unsafe withCStrings(variables.map { "\($0)=\($1)" }) { envp in
                unsafe posix_spawn(&identifier, path, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw TestFailure("spawn '\(path)': errno \(code)") }
        processID = identifier
    }

    deinit {
        guard status == nil else { return }
        kill(processID, SIGKILL)
        var ignored: Int32 = 0
        unsafe waitpid(processID, &ignored, 0)
    }

    /// The environment of every program. A crash ends the program at once, without a backtracer that may
    /// hang. Freed memory is overwritten, so that a use after free fails: an optimised build frees an array
    /// after its last use in Swift, also where C still reads it. The options of sanitizers are passed on.
    private static let always: [String: String] = {
        var variables = [
            "SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin", "MALLOC_PERTURB_": "165",
        ]
        for name in ["ASAN_OPTIONS", "LSAN_OPTIONS"] {
            guard let value = unsafe getenv(name) else { continue }
            variables[name] = unsafe String(cString: value)
        }
        return variables
    }()

    package func send(_ signal: Int32) { kill(processID, signal) }

    /// Waits for the end; the exit status, or 128 and the signal's number as a shell gives it.
    package func wait() throws -> Int32 {
        while true {
            if let status = try complete(0) { return status }
        }
    }

    /// Waits for the end without blocking the thread, for programs that take seconds.
    package func end(limit: Duration = longestWait) async throws -> Int32 {
        var ended: Int32?
        try await waitUntil("a program has ended", limit: limit, orReport: { try errors }) {
            ended = try complete(WNOHANG)
            return ended != nil
        }
        return try wait()
    }

    /// How the program ended; nil while it runs.
    private func complete(_ options: Int32) throws -> Int32? {
        if let status { return status }
        var raw: Int32 = 0
        switch unsafe waitpid(processID, &raw, options) {
        case 0: return nil
        case processID: break
        default: throw TestFailure("wait for a program: errno \(errno)")
        }
        let signal = raw & 0x7F
        status = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
        return status
    }

    /// Whether it runs, for the report of a test that has waited in vain.
    package var standing: String {
        if let status = readable({ try complete(WNOHANG) }) ?? nil {
            return "it has ended with \(status)"
        }
        let stat = readable { try File.read("/proc/\(processID)/stat", limit: 4096) } ?? []
        return "it runs: \(String(decoding: stat, as: UTF8.self))"
    }

    package var output: String { get throws { try folder.text(of: "out") } }
    package var errors: String { get throws { try folder.text(of: "err") } }
}

extension Program {
    package static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Result {
        let program = try Program(path, arguments, environment: environment)
        let status = try program.wait()
        return Result(status: status, output: try program.output, errors: try program.errors)
    }

    /// Runs a program that has to succeed; returns its output.
    @discardableResult
    package static func succeed(
        _ path: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> String {
        let result = try run(path, arguments, environment: environment)
        guard result.status == 0 else {
            throw TestFailure("\(path) \(arguments): \(result.errors)\(result.output)")
        }
        return result.output
    }

    /// Runs a program that may take seconds to its end, or minutes with a higher limit.
    package static func finish(
        _ path: String, _ arguments: [String], limit: Duration = longestWait
    ) async throws -> Result {
        let program = try Program(path, arguments)
        let status = try await program.end(limit: limit)
        return Result(status: status, output: try program.output, errors: try program.errors)
    }

    /// How a program ended, and what it printed.
    package struct Result: Equatable {
        package let status: Int32
        package let output: String
        package let errors: String

        package init(status: Int32, output: String, errors: String) {
            self.status = status
            self.output = output
            self.errors = errors
        }
    }
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe (copies + [nil]).withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("the array holds a null") }
        return unsafe body(base)
    }
}

extension Program.Result {
    /// Expects this status, and these words in the two outputs.
    @discardableResult
    package func expect(
        _ expected: Int32, output: String..., errors: String...,
        at location: SourceLocation = #_sourceLocation
    ) -> Program.Result {
        #expect(status == expected, "\(self)", sourceLocation: location)
        for word in output {
            #expect(self.output.contains(word), "\(self)", sourceLocation: location)
        }
        for word in errors {
            #expect(self.errors.contains(word), "\(self)", sourceLocation: location)
        }
        return self
    }
}
