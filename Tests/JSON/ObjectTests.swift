import JSON
import Testing

/// RFC 8259 §4 and §8.3: members, their order, and which keys are the same.
@Suite(.timeLimit(.minutes(5)))
struct ObjectTests {
    @Test(arguments: [
        .twice("§4 a key twice", #"{"a":1,"a":2}"#, at: 7, "a"),
        .twice(
            "§4 a key twice with the same value", "{\"on\": true,\n \"on\": true}", at: 14, "on"),
        .twice(
            "§4 a key twice, once escaped", #"{"apiInactive":false,"api\u0049nactive":true}"#,
            at: 21, "apiInactive"),
        .twice("§4 a key twice, in two escapes", #"{"\/":1,"\u002f":2}"#, at: 8, "/"),
        .twice(
            "§4 a key twice, once as a surrogate pair", #"{"𝄞":1,"\ud834\udd1e":2}"#, at: 10, "𝄞"),
        .twice("§4 the empty key twice", #"{"":1,"":2}"#, at: 6, ""),
        .twice(
            "§4 a key twice, far apart and deep down", #"[{"a":{"b":1,"c":{"b":2},"b":3}}]"#,
            at: 25, "b"),
        .twice("§4 a key twice, before a worse error", #"{"a":1,"a":}"#, at: 7, "a"),
        .twice(
            "§4 a key that would move the cursor, twice", #"{"\u001b[2J\n":1,"\u001b[2J\n":2}"#,
            at: 17, #"\u{001b}[2J\u{000a}"#),
        .twice(
            "§4 a key that would turn the text round, twice", "{\"a\u{202E}b\":1,\"a\u{202E}b\":2}",
            at: 11, #"a\u{202e}b"#),
        Refused(
            "§4 a long key twice",
            "{\"\(String(repeating: "k", count: 41))\":1,\"\(String(repeating: "k", count: 41))\":2}",
            at: 47,
            "duplicate key '\(String(repeating: "k", count: 40))…' at line 1, column 48: "
                + "expected each key once in an object"),
    ])
    func aKeyTwiceIsRefusedByName(document: Refused) {
        expect(document)
    }

    @Test(arguments: [2, 15, 16, 17, 18, 1000])
    func aKeyTwiceIsFoundInObjectsOfAnySize(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":\($0)" }
        for twice in [0, count / 2, count - 1] {
            let document = "{" + (members + ["\"k\(twice)\":null"]).joined(separator: ",") + "}"
            let problem = try #require(refusal(of: Array(document.utf8))).description
            #expect(problem.hasPrefix("duplicate key 'k\(twice)' at"))
        }
    }

    /// Swift's `==` takes each of these pairs for equal strings.
    @Test(arguments: [
        ("\u{212A}", "K"), ("\u{E9}", "e\u{301}"), ("\u{2126}", "\u{3A9}"),
        ("a\u{323}\u{307}", "a\u{307}\u{323}"), ("\u{AC00}", "\u{1100}\u{1161}"),
    ])
    func keysThatOnlyLookTheSameAreDifferentKeys(one: String, other: String) throws {
        try #require(one == other)
        let object = try #require(try Value.parse(#"{"\#(one)":1,"\#(other)":2}"#).object)
        #expect(object.count == 2)
        #expect(object[one] == 1)
        #expect(object[other] == 2)
        #expect(Value.string(one) != .string(other))
        #expect(Set([Value.string(one), .string(other), .string(one)]).count == 2)
    }

    /// All spellings have the same hash in Swift's dictionaries, which would make a search quadratic.
    @Test func canonicallyEquivalentKeysAreDifferentKeys() throws {
        let spellings = (0..<8192).map { number in
            (0..<13).map { number >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
        }
        let text = "{" + spellings.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let object = try #require(try Value.parse(text).object)
        #expect(object.count == 8192)
        #expect(object[spellings[4711]] == 0)
    }

    @Test(arguments: [0, 1, 16, 17, 5000])
    func membersAreFoundByKeyAndKeptInOrder(count: Int) throws {
        let keys = (0..<count).map { "parameter_\($0 * 7919 % 10007)" }
        let text = keys.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",")
        let object = try #require(try Value.parse("{\(text)}").object)
        #expect(object.count == count)
        #expect(object.isEmpty == (count == 0))
        #expect(object.members.map(\.key) == keys)
        #expect(object.map(\.key) == keys)
        for (position, key) in keys.enumerated() {
            try #require(object[key] == .number(Number(Int64(position))))
        }
        #expect(object["parameter"] == nil)
        #expect(object[""] == nil)
    }

    @Test func aMemberThatIsNullIsNotAMissingOne() {
        let object: Object = ["a": .null]
        #expect(object["a"] == Value.null)
        #expect(object["b"] == nil)
    }

    @Test func settingKeepsThePlaceOfAnOldKeyAndAddsANewOneAtTheEnd() {
        var object: Object = ["a": 1, "b": 2, "c": 3]
        object["b"] = "new"
        object["d"] = 4
        object["a"] = nil
        object["missing"] = nil
        #expect(Value.object(object).serialized() == #"{"b":"new","c":3,"d":4}"#)
    }

    @Test func ifALiteralRepeatsAKeyItsLastValueCounts() {
        let object = Object([("a", 1), ("b", 2), ("a", 3)])
        #expect(Value.object(object).serialized() == #"{"a":3,"b":2}"#)
    }

    @Test func membersOfALargeObjectCanBeRemoved() {
        var object = Object((0..<40).map { ("k\($0)", Value.number(Number($0))) })
        for number in 0..<40 where number % 2 == 0 { object["k\(number)"] = nil }
        #expect(object.count == 20)
        for number in 0..<40 {
            #expect(
                object["k\(number)"]
                    == (number % 2 == 0 ? nil : .number(Number(Int64(number)))))
        }
        for number in 0..<40 { object["k\(number)"] = nil }
        #expect(object.isEmpty)
        #expect(object == Object())
    }
}

struct ValueTests {
    /// One of each kind, all different.
    static let kinds: [Value] = [
        .null, true, false, 0, 1, "", "0", "null", [], [.null], [:], ["": .null], ["a": 1],
        ["a": "1"], [["a": 1]],
    ]

    @Test func differentValuesAreNotEqual() {
        for (i, left) in Self.kinds.enumerated() {
            for (j, right) in Self.kinds.enumerated() { #expect((left == right) == (i == j)) }
        }
        #expect(Set(Self.kinds).count == Self.kinds.count)
    }

    @Test func equalityIgnoresTheOrderOfMembersButNotOfElements() {
        let members = (0..<40).map { ("k\($0)", Value.number(Number($0))) }
        let forwards = Value.object(Object(members))
        let backwards = Value.object(Object(members.reversed()))
        #expect(forwards == backwards)
        #expect(forwards.hashValue == backwards.hashValue)
        #expect(Value.array([1, 2]) != [2, 1])
        #expect(Value.object(Object(members.dropLast())) != forwards)
    }

    @Test(
        arguments: [
            (.null, "null"), (true, "a boolean"), (1, "a number"), ("", "a string"),
            ([], "an array"),
            ([:], "an object"),
        ] as [(Value, String)])
    func typeNamesHaveTheirArticle(value: Value, name: String) {
        #expect(value.typeName == name)
    }

    @Test(arguments: kinds) func aValueOfAnotherTypeIsNil(value: Value) {
        switch value {
        case .null: break
        case .bool(let bool): #expect(value.bool == bool)
        case .number(let number): #expect(value.number == number)
        case .string(let string): #expect(value.string == string)
        case .array(let array): #expect(value.array == array)
        case .object(let object): #expect(value.object == object)
        }
        let readings = [
            value.bool != nil, value.number != nil, value.string != nil, value.array != nil,
            value.object != nil,
        ]
        #expect(readings.count { $0 } == (value == .null ? 0 : 1))
    }
}
