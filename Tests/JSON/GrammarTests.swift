import JSON
import Testing

/// RFC 8259 §2 to §5: what a document, a word, an object and an array are; and the strings of `StringGrammarTests`.
struct GrammarTests {
    @Test(arguments: accepted + StringGrammarTests.accepted)
    func whatTheGrammarAllowsIsRead(document: Accepted) throws {
        try expect(document)
    }

    @Test(arguments: refused + StringGrammarTests.refused)
    func whatTheGrammarDoesNotAllowIsRefusedAtItsPlace(document: Refused) {
        expect(document)
    }

    static let accepted: [Accepted] = [
        Accepted("§2 a lone null", "null", .null),
        Accepted("§2 a lone true", "true", true),
        Accepted("§2 a lone false", "false", false),
        Accepted("§2 a lone number", "42", 42),
        Accepted("§2 a lone string", #""shop""#, "shop"),
        Accepted("§2 an empty array", "[]", []),
        Accepted("§2 an empty object", "{}", [:]),
        Accepted("§2 every white space around the value", " \t\n\r[] \t\n\r", []),
        Accepted(
            "§2 white space around every token", " { \"a\" : [ 1 , 2 ] , \"b\" : { } } ",
            ["a": [1, 2], "b": [:]]),
        Accepted("§2 white space inside empty containers", "[ { \n} , [\t] ]", [[:], []]),
        Accepted(
            "§2 no white space at all", #"{"a":[1,null],"b":{}}"#, ["a": [1, .null], "b": [:]]),
        Accepted("§4 the empty key", #"{"":0}"#, ["": 0]),
        Accepted("§4 keys that look like other tokens", #"{"null":1,"[":2}"#, ["null": 1, "[": 2]),
        Accepted(
            "§4 the same key in different objects", #"[{"a":1},{"a":2}]"#, [["a": 1], ["a": 2]]),
        Accepted("§4 the same key at different depths", #"{"a":{"a":1}}"#, ["a": ["a": 1]]),
        Accepted("§4 keys that differ in case", #"{"a":1,"A":2}"#, ["a": 1, "A": 2]),
        Accepted(
            "§5 elements of every kind", #"[null,true,false,-1,"",[],{}]"#,
            [.null, true, false, -1, "", [], [:]]),
        Accepted("§5 arrays in arrays", "[[],[[]],[[],[]]]", [[], [[]], [[], []]]),
    ]

    static let refused: [Refused] = [
        Refused("§2 nothing", "", at: 0, "empty input: expected a value"),
        Refused("§2 nothing but white space", " \r\n\t", at: 4, "empty input: expected a value"),
        Refused("§2 two values", "1 2", at: 2, "'2'", expected: .end),
        Refused("§2 one bracket too many", "[]]", at: 2, "']'", expected: .end),
        Refused("§2 a comma after the value", "{},", at: 2, "','", expected: .end),
        Refused("§2 a word after the value", "[]\ntrailing", at: 3, "'trailing'", expected: .end),
        Refused("§2 a web page", "<!DOCTYPE html>", at: 0, "'<'", expected: .value),
        Refused("§2 plain words", "Service Unavailable", at: 0, "'Service'", expected: .value),
        Refused("§2 a line comment", "// off\n{}", at: 0, "'/'", expected: .value),
        Refused(
            "§2 a comment among members", "{\"a\": 1, /* b */ \"b\": 2}", at: 9, "'/'",
            expected: .key),
        Refused("§2 a shell comment", "[] # off", at: 3, "'#'", expected: .end),
        Refused("§2 a form feed as white space", "[\u{C}]", at: 1, "U+000C", expected: .valueOrEnd),
        Refused(
            "§2 a vertical tab as white space", "[1,\u{B}2]", at: 3, "U+000B", expected: .value),
        Refused(
            "§2 a no-break space as white space", "[\u{A0}1]", at: 1, "U+00A0",
            expected: .valueOrEnd),
        Refused(
            "§2 a line separator as white space", "[]\u{2028}", at: 2, "U+2028", expected: .end),
        Refused(
            "§2 a byte order mark after the first byte", " \u{FEFF}[]", at: 1, "U+FEFF",
            expected: .value),
        Refused("§2 a lone NUL", "\0", at: 0, "U+0000", expected: .value),
        Refused("§2 a NUL after the value", "{}\0", at: 2, "U+0000", expected: .end),
        Refused("§2 brackets of another kind", "[1}", at: 2, "'}'", expected: .comma),
        Refused("§3 a word in capitals", "True", at: 0, "'True'", expected: .value),
        Refused("§3 half a word", "[nul]", at: 1, "'nul'", expected: .valueOrEnd),
        Refused("§3 a word cut short by the end", "tru", at: 0, "'tru'", expected: .value),
        Refused("§3 a word and more letters", "nullable", at: 0, "'nullable'", expected: .value),
        Refused("§3 a word and a digit", "[true1]", at: 1, "'true1'", expected: .valueOrEnd),
        Refused("§3 two words", "[true false]", at: 6, "'false'", expected: .comma),
        Refused("§3 undefined", #"{"a": undefined}"#, at: 6, "'undefined'", expected: .value),
        Refused("§4 an object that does not end", "{", at: 1, "end of input", expected: .keyOrEnd),
        Refused("§4 the end after a key", #"{"a""#, at: 4, "end of input", expected: .colon),
        Refused("§4 the end after a colon", #"{"a":"#, at: 5, "end of input", expected: .value),
        Refused(
            "§4 the end after a member", #"{"a":1"#, at: 6, "end of input", expected: .commaOfObject
        ),
        Refused("§4 the end after a comma", #"{"a":1,"#, at: 7, "end of input", expected: .key),
        Refused("§4 a trailing comma", "{\n  \"a\": 1,\n}", at: 12, "'}'", expected: .key),
        Refused("§4 two commas", #"{"a":1,,"b":2}"#, at: 7, "','", expected: .key),
        Refused("§4 a comma first", #"{,"a":1}"#, at: 1, "','", expected: .keyOrEnd),
        Refused("§4 no comma", #"{"a":1 "b":2}"#, at: 7, "'\"'", expected: .commaOfObject),
        Refused("§4 no colon", #"{"a" 1}"#, at: 5, "'1'", expected: .colon),
        Refused("§4 two colons", #"{"a"::1}"#, at: 5, "':'", expected: .value),
        Refused("§4 an equals sign", #"{"a"=1}"#, at: 4, "'='", expected: .colon),
        Refused("§4 no value", #"{"a":}"#, at: 5, "'}'", expected: .value),
        Refused("§4 a bare key", "{a: 1}", at: 1, "'a'", expected: .keyOrEnd),
        Refused("§4 a number as key", "{1: 1}", at: 1, "'1'", expected: .keyOrEnd),
        Refused("§4 null as key", #"{"a":1,null:1}"#, at: 7, "'null'", expected: .key),
        Refused("§4 a key in single quotes", "{'a': 1}", at: 1, "\"'\"", expected: .keyOrEnd),
        Refused("§5 an array that does not end", "[", at: 1, "end of input", expected: .valueOrEnd),
        Refused("§5 the end after an element", "[1", at: 2, "end of input", expected: .comma),
        Refused("§5 the end after a comma", "[1,\n", at: 4, "end of input", expected: .value),
        Refused("§5 a trailing comma", "[1,]", at: 3, "']'", expected: .value),
        Refused("§5 two commas", "[\n  1,\n  2,,\n]", at: 11, "','", expected: .value),
        Refused("§5 a comma alone", "[,]", at: 1, "','", expected: .valueOrEnd),
        Refused("§5 no comma", "[1 2]", at: 3, "'2'", expected: .comma),
        Refused("§5 a colon", #"["a":1]"#, at: 4, "':'", expected: .comma),
        Refused("§5 an object's end", "[}", at: 1, "'}'", expected: .valueOrEnd),
    ]
}
