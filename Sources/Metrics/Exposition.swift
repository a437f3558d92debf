import CivilTime

/// Samples of metrics in the Prometheus text format 0.0.4. The samples of a metric stand together, in whatever order
/// they came. It writes bytes, because a host may have hundreds of services with twelve lines each.
struct Exposition {
    private var samples: [[UInt8]]
    private let names: [[UInt8]]

    /// No samples.
    init() {
        names = Metric.allCases.map { Array($0.name.utf8) }
        samples = Metric.allCases.map { _ in [] }
    }

    /// Adds a sample if there is a value.
    mutating func add(_ metric: Metric, _ labels: Labels = Labels(), _ value: (some SampleValue)?) {
        guard let value else { return }
        let index = metric.rawValue
        samples[index] += names[index]
        if !labels.bytes.isEmpty {
            samples[index].append(UInt8(ascii: "{"))
            samples[index] += labels.bytes
            samples[index].append(UInt8(ascii: "}"))
        }
        samples[index].append(UInt8(ascii: " "))
        samples[index].append(millionths: value.microseconds)
        samples[index].append(UInt8(ascii: "\n"))
    }

    /// The whole text: each metric that has samples, with its meaning and its type.
    func text() -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(samples.reduce(0) { $0 + $1.count } + 200 * samples.count)
        for metric in Metric.allCases where !samples[metric.rawValue].isEmpty {
            text += "# HELP \(metric.name) \(metric.help)\n".utf8
            text += "# TYPE \(metric.name) \(metric.type)\n".utf8
            text += samples[metric.rawValue]
        }
        return text
    }
}

/// The labels of a sample, as they are written: `service="shop",state="ended"`.
struct Labels {
    private(set) var bytes: [UInt8] = []

    func adding(_ key: String, _ text: String) -> Labels {
        var labels = self
        if !bytes.isEmpty { labels.bytes.append(UInt8(ascii: ",")) }
        labels.bytes += key.utf8
        labels.bytes += "=\"".utf8
        labels.bytes += LabelText.escaped(text).utf8
        labels.bytes.append(UInt8(ascii: "\""))
        return labels
    }
}

/// The value of a sample: a number with up to six decimals.
protocol SampleValue {
    /// The value in millionths.
    var microseconds: Int64 { get }
}

extension Int: SampleValue {
    var microseconds: Int64 {
        let (value, isOver) = Int64(self).multipliedReportingOverflow(by: 1_000_000)
        return isOver ? (self < 0 ? .min : .max) : value
    }
}

extension Bool: SampleValue {
    var microseconds: Int64 { self ? 1_000_000 : 0 }
}

extension Instant: SampleValue {}

extension Duration: SampleValue {}

extension [UInt8] {
    /// Appends a number of millionths in digits.
    fileprivate mutating func append(millionths value: Int64) {
        let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        if value < 0 { append(UInt8(ascii: "-")) }
        // Most values are 0 or 1.
        if whole < 10 {
            append(UInt8(ascii: "0") + UInt8(whole))
        } else {
            self += String(whole).utf8
        }
        guard rest > 0 else { return }
        var digits = String(rest + 1_000_000).utf8.dropFirst()
        while digits.last == UInt8(ascii: "0") { digits = digits.dropLast() }
        append(UInt8(ascii: "."))
        self += digits
    }
}
