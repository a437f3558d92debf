package import JSON

/// The parameters of a reply, of which long lists are made piece by piece, as the client takes them.
///
/// So neither the time on the loop nor the memory of an answer grows with the number of services. Each element
/// is as it is when its piece is made.
package struct ReplyParameters: ExpressibleByDictionaryLiteral {
    fileprivate enum Part {
        case value(JSON.Value)
        case list(AnyIterator<JSON.Value>)
    }

    fileprivate private(set) var parts: [(name: String, part: Part)]

    /// Whether more replies follow, to a call that wants many.
    package private(set) var continues = false

    package init(_ object: JSON.Object) { parts = object.map { ($0, .value($1)) } }

    package init(dictionaryLiteral members: (String, JSON.Value)...) {
        parts = members.map { ($0, .value($1)) }
    }

    /// The same answer with a list at its end; `make` makes the element of each thing, nil to leave it out.
    package func list<Thing>(
        _ member: String, of things: [Thing], _ make: @escaping (Thing) -> JSON.Value?
    ) -> ReplyParameters {
        var rest = things.makeIterator()
        let values = AnyIterator<JSON.Value> {
            while let thing = rest.next() {
                if let value = make(thing) { return value }
            }
            return nil
        }
        return with(member, .list(values))
    }

    /// The same answer with a value at its end.
    package func value(_ member: String, _ value: JSON.Value) -> ReplyParameters {
        with(member, .value(value))
    }

    /// The same answer as one of several: more will follow.
    var continued: ReplyParameters {
        var answer = self
        answer.continues = true
        return answer
    }

    private func with(_ member: String, _ part: Part) -> ReplyParameters {
        var answer = self
        answer.parts.append((member, part))
        return answer
    }

    /// The whole answer at once.
    package var object: JSON.Object {
        var object = JSON.Object()
        for (name, part) in parts {
            switch part {
            case .value(let value): object[name] = value
            case .list(let elements): object[name] = .array(Array(elements))
            }
        }
        return object
    }
}

/// The message of a reply, made piece by piece.
package struct ReplyMessage {
    private var parts: ArraySlice<(name: String, part: ReplyParameters.Part)>
    private var start = #"{"parameters":{"#
    private let end: String
    private var list: AnyIterator<JSON.Value>?
    private var isFirst = true
    /// Whether every byte was made.
    package private(set) var isComplete = false

    /// A reply with these parameters; with `continues`, others follow it.
    package init(_ answer: ReplyParameters, continues: Bool) {
        parts = answer.parts[...]
        end = continues ? "},\"continues\":true}\0" : "}}\0"
    }

    package init(_ failure: MethodError) {
        parts = []
        start = ""
        end = String(decoding: Reply.failure(failure).message, as: UTF8.self)
    }

    /// The next bytes: at least `size` of them, or all that are left, and at most an element more.
    package mutating func next(_ size: Int) -> [UInt8] {
        var bytes = Array(start.utf8)
        start = ""
        while bytes.count < size, !isComplete { addPiece(to: &bytes) }
        return bytes
    }

    private mutating func addPiece(to bytes: inout [UInt8]) {
        if let list {
            if let element = list.next() {
                separate(&bytes)
                bytes += element.serializedBytes()
            } else {
                bytes.append(UInt8(ascii: "]"))
                self.list = nil
                isFirst = false
            }
        } else if let (name, part) = parts.popFirst() {
            separate(&bytes)
            bytes += JSON.Value.string(name).serializedBytes()
            bytes.append(UInt8(ascii: ":"))
            switch part {
            case .value(let value): bytes += value.serializedBytes()
            case .list(let elements):
                bytes.append(UInt8(ascii: "["))
                list = elements
                isFirst = true
            }
        } else {
            bytes += end.utf8
            isComplete = true
        }
    }

    private mutating func separate(_ bytes: inout [UInt8]) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }
}
