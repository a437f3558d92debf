package import Decision
import Metrics

/// The one question to Prometheus: its samples are of one moment, and those of a host of one scrape.
package enum PrometheusQuery {
    /// The label that tells the samples of the parts of the question apart.
    static let label = "killswitchctl"

    /// The samples that are no metrics of a host.
    enum Mark: String {
        /// When Prometheus has scraped the sign of life.
        case scraped
        /// The last sign of life, also of a host whose metrics are gone by now.
        case seen
        /// The names of the host, by the node exporter.
        case named
        /// How many gates of the host are not as decided, those of other services included.
        case behind
        /// How old the flags of a source are that were not confirmed for three intervals.
        case old
        /// A source that never had flags.
        case missing
    }

    /// What is asked of the service itself, besides its state.
    private static let ofService: [Metric] = [
        .reasonInfo, .gateWantedOpen, .gateOpen, .unitsUnwanted, .unitUnwanted, .drainEnd,
        .flagsInfo, .closingHeld, .wouldClose,
    ]

    /// How long a host is known by Prometheus after its metrics are gone.
    package static let memory = "15m"

    /// The text of the question.
    package static func text(for service: ServiceName) -> String {
        let (alive, wanted, open) = (Metric.alive.name, Metric.gateWantedOpen, Metric.gateOpen)
        let state = "\(Metric.serviceState.name){service=\"\(service)\"}"
        let member = "\(Metric.serviceState.name){service=\"\(service)\",state=\"running\"}"
        let old =
            "\(alive) - on (job, instance) group_right () \(Metric.flagsConfirmed.name) "
            + "> 3 * \(Metric.sourceInterval.name)"
        let kinds = Finding.Kind.ofGates.map(\.rawValue).joined(separator: "|")
        let questions =
            [
                "\(state) == 1",
                "{__name__=~\"\(alive)|\(Metric.movesGates.name)\"} and on (job, instance) \(member)",
                "\(Metric.problems.name){kind=~\"\(kinds)\"} > 0",
                marked(.scraped, "timestamp(\(alive)) and on (job, instance) \(member)"),
                marked(
                    .seen,
                    "last_over_time(\(alive)[\(memory)]) and on (job, instance) last_over_time(\(member)[\(memory)])"
                ),
                marked(
                    .named,
                    "last_over_time(node_uname_info[\(memory)]) and on (job, instance) "
                        + "last_over_time(\(member)[\(memory)])"),
                marked(
                    .behind,
                    "count by (job, instance) (\(open.name) != \(wanted.name) or \(Metric.unitsUnwanted.name) > 0)"
                ),
                marked(.old, "(\(old)) and on (job, instance) \(member)"),
                marked(
                    .missing,
                    "(\(Metric.sourceUp.name) == 0 unless \(Metric.flagsConfirmed.name)) and on (job, instance) \(member)"
                ),
            ] + ofService.map { scrapedLast($0, of: service) }
        return questions.joined(separator: "\nor ")
    }

    /// The samples of the last scrape. What was gone from it when Prometheus came back would stay for five minutes: it
    /// marks as stale what it has seen go.
    private static func scrapedLast(_ metric: Metric, of service: ServiceName) -> String {
        let samples = "\(metric.name){service=\"\(service)\"}"
        let fresh =
            "\(samples) and (timestamp(\(samples)) "
            + ">= on (job, instance) group_left () timestamp(\(Metric.alive.name)))"
        // "or" drops a sample whose labels another one has, whatever their names are.
        return marked(metric.name, fresh)
    }

    private static func marked(_ mark: Mark, _ expression: String) -> String {
        marked(mark.rawValue, expression)
    }

    private static func marked(_ word: String, _ expression: String) -> String {
        "label_replace(\(expression), \"\(label)\", \"\(word)\", \"\", \"\")"
    }
}

extension String {
    /// As a value of a form (application/x-www-form-urlencoded): everything but letters and digits by its bytes.
    package var formEncoded: String {
        utf8.reduce(into: "") { text, byte in
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber {
                text.append(character)
            } else {
                text += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
            }
        }
    }
}
