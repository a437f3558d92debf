import Support

extension Daemon {
    /// Waits until these are all states of the service that it has said, in their order.
    func awaitStates(_ expected: [String]) async throws {
        var states: [String] = []
        let matches = {
            states = try self.log.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /shop: ([a-z-]+) \(was/).map { String($0.1) }
            }
            return states.count >= expected.count
        }
        try await Support.waitUntil("there were \(expected)", orTell: { "\(states)" }, matches)
        guard states == expected else { throw TestFailure("the states were \(states)") }
    }
}
