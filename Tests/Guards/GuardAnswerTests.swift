import Decision
import Guards
import Testing

/// What an answer of Prometheus means to a guard. Whatever is not expected holds the step.
@Suite struct GuardAnswerTests {
    private static func answer(_ body: String) -> GuardAnswer {
        GuardAnswer(prometheus: Array(body.utf8))
    }

    private static func data(_ type: String, _ result: String, _ more: String = "") -> String {
        #"{"status":"success","data":{"resultType":"\#(type)","result":\#(result)}\#(more)}"#
    }

    private static func vector(_ values: String...) -> String {
        let samples = values.map { #"{"metric":{"job":"shop"},"value":[1795450381.835,"\#($0)"]}"# }
        return data("vector", "[\(samples.joined(separator: ","))]")
    }

    /// As an alert fires: a perfect error ratio is a sample with the value 0.
    @Test(arguments: [
        vector("1"), vector("0"), vector("-0"), vector("0", "0.5"), vector("-3e-7"), vector("+Inf"),
        data("scalar", #"[1795450381.835,"1"]"#), data("scalar", #"[1795450381,"-1"]"#),
        data("scalar", #"[1795450381,"+Inf"]"#),
        data("vector", #"[{"value":[1,"7"]}]"#, #","isPartial":false"#),
        data("vector", "[]", "").replacing(
            "[]", with: #"[{"value":[1,"7"]}]"#),
    ])
    func whatPasses(_ body: String) { #expect(Self.answer(body) == .passes) }

    @Test(arguments: [
        (data("vector", "[]"), "its query gives no sample"),
        (vector("NaN"), "its query gives a sample that is NaN"),
        (vector("1", "NaN"), "its query gives a sample that is NaN"),
        (vector("one"), "its query gives a sample without a number"),
        (vector(""), "its query gives a sample without a number"),
        (data("vector", #"[{"metric":{}}]"#), "its query gives a sample without a number"),
        (data("vector", "[1]"), "its query gives a sample without a number"),
        (
            data("vector", #"[{"value":["now","1"]}]"#),
            "its query gives a sample without a number"
        ),
        (data("vector", #"[{"value":[1,1]}]"#), "its query gives a sample without a number"),
        (
            data("vector", #"[{"metric":{},"histogram":[1,{"count":"1"}]}]"#),
            "its query gives a sample without a number"
        ),
        (data("scalar", #"[1795450381.835,"0"]"#), "its query gives the scalar 0"),
        (data("scalar", #"[1795450381.835,"-0"]"#), "its query gives the scalar 0"),
        (data("scalar", #"[1795450381.835,"NaN"]"#), "its query gives NaN"),
        (data("string", #"[1795450381.835,"yes"]"#), "its query gives a text, not samples"),
        (
            data("matrix", #"[{"metric":{},"values":[[1,"1"]]}]"#),
            "its query gives a range of samples; write an instant query"
        ),
        (data("vector", "null"), "its answer is not that of the API of Prometheus"),
        (data("scalar", "1"), "its answer is not that of the API of Prometheus"),
        (data("new", "[]"), "its answer is not that of the API of Prometheus"),
        (
            #"{"status":"success","data":{"result":[]}}"#,
            "its answer is not that of the API of Prometheus"
        ),
        (#"{"status":"success"}"#, "it refuses the query: status 'success'"),
        (
            data("vector", #"[{"value":[1,"1"]}]"#, #","warnings":["store c is away"]"#),
            "it answers with a part of the data: store c is away"
        ),
        (
            data("vector", #"[{"value":[1,"1"]}]"#, #","isPartial":true"#),
            "it answers with a part of the data: isPartial is set"
        ),
        (
            #"{"status":"error","errorType":"bad_data","error":"1:4: parse error"}"#,
            "it refuses the query: 1:4: parse error"
        ),
        ("", "its answer is no JSON: "), ("{", "its answer is no JSON: "),
        ("[]", "its answer is not that of the API of Prometheus"),
        ("true", "its answer is not that of the API of Prometheus"),
        (
            "<html>Log in</html>",
            "it answers with a page of HTML, as a proxy or a login does"
        ),
        (vector("1") + "{}", "its answer is no JSON: "),
        (
            #"{"status":"success","status":"success","data":{}}"#, "its answer is no JSON: "
        ),
    ])
    func whatHolds(_ body: String, _ cause: String) {
        guard case .holds(let said) = Self.answer(body) else {
            Issue.record("it passes: \(body)")
            return
        }
        #expect(cause.hasSuffix(": ") ? said.hasPrefix(cause) : said == cause)
    }

    /// No part of a good answer is one.
    @Test func noBeginningOfAnAnswerPasses() {
        let whole = Array(Self.vector("0").utf8)
        for count in whole.indices {
            #expect(GuardAnswer(prometheus: Array(whole[..<count])) != .passes)
        }
    }
}
