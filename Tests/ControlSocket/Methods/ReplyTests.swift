import ControlSocket
import JSON
import Testing

/// A reply that is made piece by piece is the same as a reply that is made at once.
@Suite struct ReplyParametersTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let parameters: JSON.Object
        /// How many members at the end are lists that are made an element at a time.
        var lists = 0
    }

    static let cases = [
        Case(testDescription: "empty", parameters: [:]),
        Case(testDescription: "a value", parameters: ["a": 1]),
        Case(
            testDescription: "values of each kind",
            parameters: ["a": .null, "b": "\"\u{0}ä", "c": [1, [:]]]),
        Case(testDescription: "an empty list", parameters: ["a": []], lists: 1),
        Case(
            testDescription: "a value and an empty list", parameters: ["a": 1, "b": []], lists: 1),
        Case(
            testDescription: "lists",
            parameters: ["a": true, "b": [1, 2, 3], "c": [], "d": [[], "x"]],
            lists: 3),
        Case(
            testDescription: "a list that is longer than a piece",
            parameters: ["a": .array(Array(repeating: "xxxxxxxxxx", count: 999))], lists: 1),
    ]

    @Test(arguments: cases, [1, 100, 1 << 20])
    func thePiecesOfAReplyAreTheWholeReply(_ row: Case, _ size: Int) throws {
        for continues in [false, true] {
            var message = ReplyMessage(Self.answer(row), continues: continues)
            var bytes: [UInt8] = []
            while !message.isComplete {
                let piece = message.next(size)
                #expect(!piece.isEmpty && piece.count < size + 200)
                bytes += piece
            }
            #expect(message.next(size).isEmpty)
            let reply: Reply = continues ? .more(row.parameters) : .last(row.parameters)
            #expect(bytes == reply.message)
            #expect(Self.answer(row).object == row.parameters)
        }
    }

    @Test func anErrorIsAMessageToo() {
        var message = ReplyMessage(.invalidParameter("x"))
        #expect(message.next(1) == Reply.failure(.invalidParameter("x")).message)
        #expect(message.isComplete)
    }

    private static func answer(_ row: Case) -> ReplyParameters {
        let members = Array(row.parameters)
        var answer = ReplyParameters([:])
        for (position, member) in members.enumerated() {
            if position < members.count - row.lists {
                answer = answer.value(member.0, member.1)
            } else {
                answer = answer.list(member.0, of: member.1.array ?? []) { $0 }
            }
        }
        return answer
    }
}

/// The description of the interface, and errors for unknown methods and interfaces.
@Suite struct DescriptionTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    /// The answer of the interface that every service has.
    private func describe(_ method: String, _ parameters: JSON.Object = [:]) throws -> JSON.Object {
        let call = MethodCall(
            interface: "org.varlink.service", method: method, parameters: parameters)
        return try #require(try asked.perform(call, by: TestDispatcher.anybody).answer)
    }

    @Test func theServiceDescribesItself() throws {
        let info = try describe("GetInfo")
        #expect(info["interfaces"] == ["org.varlink.service", "io.killswitchd"])
        #expect(info["version"]?.string == "9.9")
        let text = try #require(
            try describe("GetInterfaceDescription", ["interface": "io.killswitchd"])["description"]?
                .string)
        for method in Interface.methods { #expect(text.contains("\nmethod \(method.name)(")) }
        for error in MethodError.Kind.allCases where error.rawValue.hasPrefix("io.kill") {
            #expect(text.contains("\nerror \(error.rawValue.dropFirst("io.killswitchd.".count)) ("))
        }
        #expect(throws: MethodError.interfaceNotFound("io.other")) {
            _ = try describe("GetInterfaceDescription", ["interface": "io.other"])
        }
    }

    @Test func anUnknownMethodOrInterfaceIsATypedError() throws {
        #expect(throws: MethodError.methodNotFound("Shut")) { try asked.perform("Shut") }
        #expect(throws: MethodError.interfaceNotFound("io.other")) {
            try asked.perform(
                MethodCall(interface: "io.other", method: "X"), by: TestDispatcher.root)
        }
    }
}
