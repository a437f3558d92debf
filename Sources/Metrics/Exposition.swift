import CivilTime

/// Samples of metrics as text, in the format that the node exporter reads from files (Prometheus text format
/// 0.0.4). The samples of a metric stand together, whatever the order was in which they came.
///
/// It writes bytes, because a host may have ten thousand services with twelve lines each.
struct Exposition {
    private var samples: [[UInt8]]
    private let names: [[UInt8]]

    /// No samples. `room` is the expected number of services.
    init(room: Int = 0) {
        names = Metric.allCases.map { Array($0.name.utf8) }
        samples = Metric.allCases.map { _ in [] }
        samples[Metric.serviceState.rawValue].reserveCapacity(room * Self.bytesOfStates)
    }

    /// About the size of the six samples of the state of a service.
    private static let bytesOfStates = 480

    /// Adds a sample.
    mutating func add(_ metric: Metric, _ labels: Labels = Labels(), _ value: some SampleValue) {
        let index = metric.rawValue
        samples[index] += names[index]
        if !labels.bytes.isEmpty {
            samples[index].append(UInt8(ascii: "{"))
            samples[index] += labels.bytes
            samples[index].append(UInt8(ascii: "}"))
        }
        samples[index].append(UInt8(ascii: " "))
        value.write(to: &samples[index])
        samples[index].append(UInt8(ascii: "\n"))
    }

    /// Adds a sample if there is a value.
    mutating func add(_ metric: Metric, _ labels: Labels, ifThere value: (some SampleValue)?) {
        if let value { add(metric, labels, value) }
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

    /// No labels.
    init() {}

    /// A label whose value is a name of ours, which needs no escape.
    init(_ key: String, name: String) { append(key, name.utf8) }

    /// The same with one more label, whose value is a name of ours or another word that needs no escape.
    func adding(_ key: String, name: String) -> Labels {
        var labels = self
        labels.append(key, name.utf8)
        return labels
    }

    /// The same with one more label of any text.
    func adding(_ key: String, text: String) -> Labels {
        var labels = self
        labels.append(key, LabelText.escaped(text).utf8)
        return labels
    }

    private mutating func append(_ key: String, _ value: String.UTF8View) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes += key.utf8
        bytes.append(UInt8(ascii: "="))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: value)
        bytes.append(UInt8(ascii: "\""))
    }
}

/// The value of a sample.
protocol SampleValue {
    /// Appends the digits.
    func write(to bytes: inout [UInt8])
}

extension Int: SampleValue {
    func write(to bytes: inout [UInt8]) {
        // Most values are 0 or 1.
        if (0...9).contains(self) {
            bytes.append(UInt8(ascii: "0") + UInt8(self))
        } else {
            bytes += String(self).utf8
        }
    }
}

extension Bool: SampleValue {
    /// 1 or 0.
    func write(to bytes: inout [UInt8]) { bytes.append(UInt8(ascii: self ? "1" : "0")) }
}

extension Instant: SampleValue {
    /// Seconds since 1970 with the microseconds, if there are any.
    func write(to bytes: inout [UInt8]) { writeSeconds(ofMicroseconds: microseconds, to: &bytes) }
}

extension Duration: SampleValue {
    /// Seconds with the microseconds, if there are any.
    func write(to bytes: inout [UInt8]) { writeSeconds(ofMicroseconds: microseconds, to: &bytes) }
}

private func writeSeconds(ofMicroseconds time: Int64, to bytes: inout [UInt8]) {
    let (seconds, rest) = time.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    if time < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes += String(seconds).utf8
    guard rest > 0 else { return }
    var digits = String(rest + 1_000_000).utf8.dropFirst()
    while digits.last == UInt8(ascii: "0") { digits = digits.dropLast() }
    bytes.append(UInt8(ascii: "."))
    bytes += digits
}
