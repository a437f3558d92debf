import JSON
import Testing

struct ValueTests {
    /// One of each kind, all different.
    static let kinds: [Value] = [
        .null, true, false, 0, 1, "", "0", "null", [], [.null], [:], ["": .null], ["a": 1],
        ["a": "1"], [["a": 1]],
    ]

    @Test func differentValuesAreNotEqual() {
        for (i, left) in Self.kinds.enumerated() {
            for (j, right) in Self.kinds.enumerated() {
                #expect((left == right) == (i == j))
            }
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

    @Test(arguments: kinds)
    func aValueOfAnotherTypeIsNil(value: Value) {
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
