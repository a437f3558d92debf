import ControlSocket
import Decision
import JSON
import Testing

/// Calls of Force with missing, contradicting or malformed parameters.
@Suite struct WrongOrderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: JSON.Object
        let error: MethodError

        init(_ name: String, _ change: JSON.Object, _ error: MethodError) {
            (testDescription, self.change, self.error) = (name, change, error)
        }
    }

    static let cases = [
        Case(
            "another service", ["service": "shpo"],
            .noSuchService("shpo", known: [ServiceName("shop")].compactMap(\.self))),
        Case("no service", ["service": .null], .invalidParameter("service")),
        Case("no such state", ["state": "shut"], .invalidParameter("state")),
        Case("a state that is none", ["state": "undecided"], .invalidParameter("state")),
        Case("a number as the state", ["state": 5], .invalidParameter("state")),
        Case("no reason", ["reason": " "], .invalidParameter("reason")),
        Case(
            "a novel as the reason", ["reason": .string(String(repeating: "x", count: 5000))],
            .invalidParameter("reason")),
        Case("no time at all", ["seconds": 0], .invalidParameter("seconds")),
        Case(
            "for longer than any calendar", ["seconds": 9_000_000_000_000_000_000],
            .invalidParameter("seconds")),
        Case("a time twice", ["until": "2099-01-01T00:00:00Z"], .invalidParameter("seconds")),
        Case("until then", ["seconds": .null, "until": "tomorrow"], .invalidParameter("until")),
        Case("without an end", ["seconds": .null], .invalidParameter("until")),
        Case(
            "until a time that is past", ["seconds": .null, "until": "2001-01-01T00:00:00Z"],
            .notInTheFuture("2001-01-01T00:00:00Z")),
        Case("half a yes", ["ifOpen": "yes"], .invalidParameter("ifOpen")),
        Case("a parameter that is none", ["sate": "ended"], .invalidParameter("sate")),
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
