import Files
import Support

extension Daemon {
    /// The warnings that the daemon has logged so far.
    var warnings: [Substring] { get throws { try lines(with: "warning: ") } }

    /// The log lines that contain `text`.
    func lines(with text: String) throws -> [Substring] {
        try log.split(separator: "\n").filter { $0.contains(text) }
    }

    /// Waits until a log line contains `text`.
    func awaitLine(_ text: String) async throws {
        try await Support.waitUntil("the log says '\(text)'", orReport: { try log }) {
            try !lines(with: text).isEmpty
        }
    }

    /// Waits until the service is in this state.
    func awaitState(_ state: String, of service: String = "shop") async throws {
        try await awaitMember("state", state, of: service)
    }

    /// Waits until the verdict has this reason.
    func awaitReason(_ reason: String) async throws {
        try await awaitMember("reason", reason)
    }

    private func awaitMember(
        _ name: String, _ value: String, of service: String = "shop"
    ) async throws {
        try await Support.waitUntil("the \(name) is '\(value)'", orReport: { try log }) {
            guard try File.exists(folder("run/\(service)/state.json")) else { return false }
            return try member(name, of: service) == "\"\(value)\""
        }
    }

    /// Waits until the log names as many states of the shop as `expected`, and fails unless they are those.
    func awaitStates(_ expected: [String]) async throws {
        var states: [String] = []
        let matches = {
            states = try self.log.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /shop: ([a-z-]+) \(was/).map { String($0.1) }
            }
            return states.count >= expected.count
        }
        try await Support.waitUntil("there were \(expected)", orReport: { "\(states)" }, matches)
        guard states == expected else { throw TestFailure("the states were \(states)") }
    }
}
