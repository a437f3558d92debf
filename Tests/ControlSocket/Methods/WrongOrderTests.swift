import ControlSocket
import Decision
import JSON
import Testing

/// Calls of Force with missing, contradicting or malformed parameters.
@Suite struct WrongOrderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var change: JSON.Object
        let error: MethodError
        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "another service", change: ["service": "shpo"],
            error: .noSuchService("shpo", known: [ServiceName("shop")].compactMap(\.self))),
        Case(
            name: "no service", change: ["service": .null], error: .invalidParameter("service")),
        Case(
            name: "no such state", change: ["state": "shut"], error: .invalidParameter("state")),
        Case(
            name: "a state that is none", change: ["state": "undecided"],
            error: .invalidParameter("state")),
        Case(
            name: "a number as the state", change: ["state": 5], error: .invalidParameter("state")),
        Case(name: "no reason", change: ["reason": " "], error: .invalidParameter("reason")),
        Case(
            name: "a novel as the reason",
            change: ["reason": .string(String(repeating: "x", count: 5000))],
            error: .invalidParameter("reason")),
        Case(
            name: "no time at all", change: ["seconds": 0], error: .invalidParameter("seconds")),
        Case(
            name: "for longer than any calendar", change: ["seconds": 9_000_000_000_000_000_000],
            error: .invalidParameter("seconds")),
        Case(
            name: "a time twice", change: ["until": "2099-01-01T00:00:00Z"],
            error: .invalidParameter("seconds")),
        Case(
            name: "until then", change: ["seconds": .null, "until": "tomorrow"],
            error: .invalidParameter("until")),
        Case(
            name: "without an end", change: ["seconds": .null], error: .invalidParameter("until")),
        Case(
            name: "until a time that is past",
            change: ["seconds": .null, "until": "2001-01-01T00:00:00Z"],
            error: .notInTheFuture("2001-01-01T00:00:00Z")),
        Case(
            name: "half a yes", change: ["ifOpen": "yes"], error: .invalidParameter("ifOpen")),
        Case(
            name: "a parameter that is none", change: ["sate": "ended"],
            error: .invalidParameter("sate")),
    ]

    @Test(arguments: cases) func aWrongOrderIsRejectedAndPostsNothing(_ wrong: Case) throws {
        let asked = try TestDispatcher()
        try asked.decide()
        var order: JSON.Object = .maintenance
        for (key, value) in wrong.change { order[key] = value }
        #expect(throws: wrong.error) { try asked.perform("Force", order) }
        #expect(try asked.call("Status").states == ["running"])
    }
}
