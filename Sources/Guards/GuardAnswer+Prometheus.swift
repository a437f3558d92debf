package import Decision
import Fleet
import JSON

extension GuardAnswer {
    /// What the body of an answer to an instant query means. It passes as an alert fires: if the query gives a sample,
    /// whatever its value. A comparison leaves out the samples of which it is false; a 0 that is left is a good one.
    /// A scalar is a single value that is always there: it passes unless it is 0. What is not a number never passes.
    package init(prometheus body: [UInt8]) {
        do {
            let data = try PrometheusAnswer.data(in: body)
            self = Self.answer(data["resultType"]?.string, data["result"])
        } catch {
            self = .holds(error.description)
        }
    }

    private static func answer(_ type: String?, _ result: JSON.Value?) -> GuardAnswer {
        switch type {
        case "vector":
            guard let samples = result?.array else { break }
            if samples.isEmpty { return .holds("its query gives no sample") }
            for sample in samples {
                guard let value = number(sample.object?["value"]) else {
                    return .holds("its query gives a sample without a number")
                }
                if value.isNaN { return .holds("its query gives a sample that is NaN") }
            }
            return .passes
        case "scalar":
            guard let value = number(result) else { break }
            if value.isNaN { return .holds("its query gives NaN") }
            return value == 0 ? .holds("its query gives the scalar 0") : .passes
        case "string": return .holds("its query gives a text, not samples")
        case "matrix": return .holds("its query gives a range of samples; write an instant query")
        default: break
        }
        return .holds("its answer is not that of the API of Prometheus")
    }

    /// The number of a pair of time and value; nil without one.
    private static func number(_ value: JSON.Value?) -> Double? {
        guard let pair = value?.array, pair.count == 2, pair[0].number != nil else { return nil }
        return pair[1].string.flatMap { Double($0) }
    }
}
