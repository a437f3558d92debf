import ControlSocket
import Testing

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
