package import CivilTime
package import Decision
import JSON

/// The page of a service: its template and its language. Filled with a record, it is `page.html`.
package struct Page: Hashable, Sendable {
    package let template: PageTemplate
    package let language: Language

    /// A page of this template; without one, of the template that killswitchd brings.
    package init(_ template: PageTemplate? = nil, in language: Language = .english) {
        self.template = template ?? .standard
        self.language = language
    }

    /// The page of a service that configures none.
    package static let standard = Page()

    /// `page.html`: the template with the facts of the record, escaped and cut after `longestText` characters each.
    /// `isStarting`: the gate opens, and its units are not up yet.
    package func bytes(
        of record: PublishedVerdict, for service: Service, isStarting: Bool = false
    ) -> [UInt8] {
        let facts = PageFacts(
            record: record, service: service, language: language, isStarting: isStarting)
        var page: [UInt8] = []
        page.reserveCapacity(4096)
        Self.fill(template.nodes, with: facts, into: &page)
        return page
    }

    /// The most characters of one text on a page.
    static let longestText = 10_000

    private static func fill(
        _ nodes: [PageTemplate.Node], with facts: PageFacts, into page: inout [UInt8]
    ) {
        for node in nodes {
            switch node {
            case .text(let text): page += text
            case .field(let field): if let text = field.text(facts) { page.append(escaped: text) }
            case .section(let field, let isInverted, let nodes):
                if (field.text(facts) == nil) == isInverted {
                    fill(nodes, with: facts, into: &page)
                }
            }
        }
    }

    /// `problem.json`: the same for the clients of an API (RFC 9457); nil unless the gate is closed, or `isStarting`.
    package func problem(
        of record: PublishedVerdict, for service: Service, isStarting: Bool = false
    ) -> [UInt8]? {
        guard record.verdict.gate == .closed || isStarting else { return nil }
        let facts = PageFacts(
            record: record, service: service, language: language, isStarting: isStarting)
        let verdict = record.verdict
        let end = verdict.endsAt ?? verdict.plannedEnd
        let problem: JSON.Value = .object([
            "type": "about:blank", "title": "Service Unavailable", "status": 503,
            "detail": .string(facts.message.cut), "heading": .string(facts.heading.cut),
            "service": .string(service.name.text),
            "state": .string(isStarting ? "starting" : verdict.state.rawValue),
            "since": .string(service.zone.rfc3339(record.since)),
            "ends_at": .optional(end.map(service.zone.rfc3339)),
            "retry_after": .optional(facts.retrySeconds),
        ])
        return problem.serializedBytes(.outline) + [UInt8(ascii: "\n")]
    }

    /// `retry-after`: after how many seconds a client may try again, for the header of this name. nginx reads no file
    /// into a header, but it knows the size of a file: spaces fill the number up to as many bytes.
    package static func retryAfter(of record: PublishedVerdict, isStarting: Bool) -> [UInt8]? {
        guard record.verdict.gate == .closed || isStarting else { return nil }
        let seconds = isStarting ? PageFacts.startingRetry : record.retrySeconds
        return seconds.map { seconds in
            let digits = Array("\(seconds)".utf8)
            let padding = max(Int(seconds) - digits.count, 0)
            return digits + [UInt8](repeating: UInt8(ascii: " "), count: padding)
        }
    }

    /// `sunset`: the announced end of a countdown, as the header of this name has it (RFC 8594); nil without.
    package static func sunset(of record: PublishedVerdict) -> (end: Instant, text: String)? {
        guard record.verdict.state == .countdown, let end = record.verdict.endsAt else {
            return nil
        }
        return (end, end.httpDate)
    }
}

extension String {
    fileprivate var cut: String {
        guard utf8.count > Page.longestText, unicodeScalars.count > Page.longestText else {
            return self
        }
        return String(unicodeScalars.prefix(Page.longestText)) + "…"
    }
}

extension [UInt8] {
    /// Appends a text as HTML, in an element or in an attribute with quotes or without. What HTML does not have
    /// becomes U+FFFD: NUL, other controls, noncharacters. Controls that reorder what is shown are left out.
    fileprivate mutating func append(escaped text: String) {
        if text.utf8.count <= Page.longestText, text.utf8.allSatisfy(\.isPlain) {
            self += text.utf8
            return
        }
        for scalar in text.cut.unicodeScalars {
            switch scalar {
            case "&": self += "&amp;".utf8
            case "<": self += "&lt;".utf8
            case ">": self += "&gt;".utf8
            case "\"": self += "&quot;".utf8
            case "'": self += "&#39;".utf8
            case "`": self += "&#96;".utf8
            case "=": self += "&#61;".utf8
            case "\n", "\t": append(UInt8(scalar.value))
            case "\r", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": continue
            case _ where scalar.isForbidden: self += "\u{FFFD}".utf8
            default: self += String(scalar).utf8
            }
        }
    }
}

extension UInt8 {
    /// Whether it is printable ASCII that means nothing in HTML.
    fileprivate var isPlain: Bool {
        (0x20..<0x7F).contains(self) && !"&<>\"'`=".utf8.contains(self)
    }
}

extension Unicode.Scalar {
    /// Whether HTML must not have it: a control, or a noncharacter.
    fileprivate var isForbidden: Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || (0xFDD0...0xFDEF).contains(value)
            || value & 0xFFFE == 0xFFFE
    }
}
