import ControlSocket
import JSON
import Testing

@Suite struct MethodCallTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let message: String
        let call: MethodCall?
        var testDescription: String { name }
    }

    private static let status = MethodCall(interface: "io.killswitchd", method: "Status")

    static let cases = [
        Case(name: "bare", message: #"{"method":"io.killswitchd.Status"}"#, call: status),
        Case(
            name: "null parameters",
            message: #"{"method":"io.killswitchd.Status","parameters":null}"#, call: status),
        Case(
            name: "parameters and a member of a later version",
            message: #"{"method":"a.b.C","parameters":{"x":1},"later":true}"#,
            call: MethodCall(interface: "a.b", method: "C", parameters: ["x": 1])),
        Case(
            name: "more", message: #"{"method":"a.b.C","more":true}"#,
            call: MethodCall(interface: "a.b", method: "C", replies: .many)),
        Case(
            name: "oneway", message: #"{"method":"a.b.C","oneway":true,"more":false}"#,
            call: MethodCall(interface: "a.b", method: "C", replies: .none)),
        Case(
            name: "no interface", message: #"{"method":"Status"}"#,
            call: MethodCall(interface: "", method: "Status")),
        Case(
            name: "a combining mark after the dot", message: #"{"method":"a.b.\u0656"}"#,
            call: MethodCall(interface: "a.b", method: "\u{656}")),
        Case(name: "empty", message: "", call: nil),
        Case(name: "no JSON", message: "GET / HTTP/1.1", call: nil),
        Case(name: "no object", message: "[]", call: nil),
        Case(name: "no method", message: "{}", call: nil),
        Case(name: "a method that is no string", message: #"{"method":1}"#, call: nil),
        Case(
            name: "parameters that are no object",
            message: #"{"method":"a.b.C","parameters":[1]}"#, call: nil),
        Case(
            name: "more and oneway at once",
            message: #"{"method":"a.b.C","more":true,"oneway":true}"#, call: nil),
        Case(
            name: "upgrade", message: #"{"method":"a.b.C","upgrade":true}"#,
            call: MethodCall(interface: "a.b", method: "C", isUpgrade: true)),
        Case(
            name: "no upgrade", message: #"{"method":"a.b.C","upgrade":null}"#,
            call: MethodCall(interface: "a.b", method: "C")),
        Case(
            name: "nested deeper than any call",
            message: #"{"method":"a.b.C","parameters":{"x":"#
                + String(repeating: "[", count: 20) + String(repeating: "]", count: 20) + "}}",
            call: nil),
    ]

    private static func nested(_ depth: Int) -> JSON.Value {
        (1...depth).reduce(.null) { value, _ in .array([value]) }
    }

    @Test(arguments: cases) func aMessageIsParsedAsACallOrRejected(_ example: Case) throws {
        let message = Array(example.message.utf8)
        if let call = example.call {
            #expect(try MethodCall(message) == call)
        } else {
            #expect(throws: WireError.malformed) { try MethodCall(message) }
        }
    }

    @Test(arguments: cases.compactMap(\.call).filter { !$0.interface.isEmpty })
    func aCallThatIsWrittenIsReadAsTheSame(_ call: MethodCall) throws {
        #expect(call.message.last == 0)
        #expect(try MethodCall(call.message.dropLast()) == call)
    }

    @Test(arguments: [
        Reply.last(["a": 1]), .more([:]), .failure(.methodNotFound("X")),
        // A state with the deepest value of flags, among others.
        .last(["services": [["values": ["v": nested(64)]]]]),
    ]) func aReplyThatIsWrittenIsReadAsTheSame(_ reply: Reply) {
        #expect(reply.message.last == 0)
        #expect(Reply(reply.message.dropLast()) == reply)
    }
}

/// NUL bytes separate messages, however the bytes arrive.
@Suite struct FramingTests {
    @Test func messagesEndAtNULs() throws {
        var framing = Framing()
        framing.append(Array("one\0two\0thr".utf8))
        #expect(try framing.next() == Array("one".utf8))
        #expect(try framing.next() == Array("two".utf8))
        #expect(try framing.next() == nil)
        framing.append(Array("ee\0\0".utf8))
        #expect(try framing.next() == Array("three".utf8))
        #expect(try framing.next() == [])
        #expect(try framing.next() == nil)
    }

    @Test func aMessageMayComeByteByByte() throws {
        var framing = Framing()
        for byte in Array("hello".utf8) {
            framing.append([byte])
            #expect(try framing.next() == nil)
        }
        framing.append([0])
        #expect(try framing.next() == Array("hello".utf8))
    }

    @Test func aMessageOfTheLimitIsTakenAndALongerOneIsNot() throws {
        let longest = [UInt8](repeating: 1, count: Framing.limit)
        var framing = Framing()
        framing.append(longest)
        #expect(try framing.next() == nil)
        framing.append([0])
        #expect(try framing.next() == longest)
        framing.append(longest + [1])
        #expect(throws: WireError.tooLong) { try framing.next() }
        var ended = Framing()
        ended.append(longest + [1, 0])
        #expect(throws: WireError.tooLong) { try ended.next() }
    }
}
