import CivilTime
import Decision
import JSON
import Pages
import Testing

@Suite struct PageTests {
    /// A text of the flags is text on the page, whatever is in it.
    @Test(arguments: [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\" onload='x' `y`=z", "&quot; onload&#61;&#39;x&#39; &#96;y&#96;&#61;z"),
        ("{{state}} {{#closed}}", "{{state}} {{#closed}}"),
        (
            "${HOME} $(id) <!--#exec cmd=\"id\"-->",
            "${HOME} $(id) &lt;!--#exec cmd&#61;&quot;id&quot;--&gt;"
        ),
        ("&amp;", "&amp;amp;"),
        ("a\u{202E}b\u{2066}c\u{2069}\u{202C}d", "abcd"),
        ("a\0b\u{1B}[31m\u{85}c", "a\u{FFFD}b\u{FFFD}[31m\u{FFFD}c"),
        ("two\r\nlines\tand more", "two\nlines\tand more"),
        ("👩‍👩‍👧 ä 日本 שלום", "👩‍👩‍👧 ä 日本 שלום"),
    ]) func aForeignTextIsHarmless(_ text: String, _ shown: String) throws {
        let closed = try record(.maintenance) {
            $0.texts.title = text
            $0.values = ["phone": .string(text)]
        }
        let service = try shop(values: ["phone"])
        #expect(try page("{{title}}", closed) == shown)
        #expect(try page("{{values.phone}}", closed, of: service) == shown)
        let standard = Page.standard.bytes(of: closed, for: service)
        #expect(
            String(decoding: standard, as: UTF8.self).contains("<h1 dir=\"auto\">\(shown)</h1>"))
    }

    @Test func aNoncharacterIsAReplacementCharacter() throws {
        let numbers: [UInt32] = [0xFFFF, 0xFDD0, 0x1FFFE]
        let closed = try record(.maintenance) { verdict in
            verdict.texts.title = ""
            for number in numbers {
                verdict.texts.title?.unicodeScalars.append(try #require(Unicode.Scalar(number)))
            }
        }
        #expect(try page("{{title}}", closed) == "\u{FFFD}\u{FFFD}\u{FFFD}")
    }

    /// JSON's `"\ud800"` is read as U+FFFD.
    @Test func anUnpairedSurrogateIsAReplacementCharacter() throws {
        let read = { try JSON.Value.parse(Array(#"{"t": "a\ud800b"}"#.utf8)).object?["t"]?.string }
        guard let text = try? read() else { return }
        let closed = try record(.maintenance) { $0.texts.title = text }
        #expect(try page("{{title}}", closed) == "a\u{FFFD}b")
    }

    @Test func aLongTextIsCut() throws {
        let closed = try record(.maintenance) {
            $0.texts.title = String(repeating: "<", count: 100_000)
            $0.texts.message = String(repeating: "ä", count: 100_000)
        }
        let shown = try page("{{title}}|{{message}}", closed)
        #expect(
            shown == String(repeating: "&lt;", count: 10_000) + "…|"
                + String(repeating: "ä", count: 10_000) + "…")
        let problem = try #require(Page.standard.problem(of: closed, for: shop()))
        #expect(problem.count < 50_000)
    }

    /// The facts of each state, by one template.
    @Test(arguments: [
        (
            State.undecided,
            "One moment, please|This service is starting. Please try again in a moment.||||30"
        ),
        (.running, "This service is running|There is nothing you need to do.||||"),
        (
            .countdown,
            "This service will end|Thank you for using it. Please save what you need in time.|"
                + "12 days left|Ends:|13 March 2027, 08:05 (UTC+00:00)|"
        ),
        (
            .maintenance,
            "Maintenance|We are working on this service. Please come back later.||||300"
        ),
        (
            .updateRequired,
            "Update required|This version can no longer be used. Please install the update.||||300"
        ),
        (
            .ended,
            "This service has ended|Thank you for using it.||Ended:|13 March 2027, 08:05 (UTC+00:00)|3600"
        ),
    ]) func eachStateHasItsWords(_ state: State, _ expected: String) throws {
        let record = try record(state) {
            if state == .countdown || state == .ended {
                $0.endsAt = try Instant(rfc3339: "2027-03-13T08:05:00Z")
                $0.daysLeft = 12
            }
        }
        let facts = "{{heading}}|{{text}}|{{days_text}}|{{ends_label}}|{{ends_text}}|{{refresh}}"
        #expect(try page(facts, record) == expected)
    }

    @Test(arguments: [
        (Language.english, "12 days left|Ends:|1 January 2027, 00:00 (UTC+00:00)"),
        (.german, "Noch 12 Tage|Ende:|1. Januar 2027, 00:00 Uhr (UTC+00:00)"),
        (.japanese, "残り12日|終了日時：|2027年1月1日 00:00 (UTC+00:00)"),
        (.chineseOfTaiwan, "剩餘 12 天|終止時間：|2027年1月1日 00:00 (UTC+00:00)"),
    ]) func eachLanguageHasItsDates(_ language: Language, _ expected: String) throws {
        let record = try record(.countdown) {
            $0.endsAt = try Instant(rfc3339: "2027-01-01T00:00:00Z")
            $0.daysLeft = 12
        }
        let facts = "{{days_text}}|{{ends_label}}|{{ends_text}}"
        #expect(try page(facts, record, in: language) == expected)
    }

    @Test func noTextIsMissingInALanguage() throws {
        for language in Language.allCases {
            for state in State.allCases {
                let record = try record(state) { $0.endsAt = $0.endsAt ?? Instant(microseconds: 0) }
                let words = try page("{{heading}}|{{text}}|{{ends_label}}", record, in: language)
                #expect(words.split(separator: "|").count == 3, "\(words)")
            }
            for days in [0, 1, 2, 1_000] {
                let record = try record(.countdown) { $0.daysLeft = days }
                #expect(try !page("{{days_text}}", record, in: language).isEmpty)
            }
            let shown = Page(in: language).bytes(of: try record(.ended), for: try shop())
            #expect(
                String(decoding: shown, as: UTF8.self).contains(
                    "<html lang=\"\(language.rawValue)\">"))
        }
    }

    @Test func theTextsOfTheFlagsWin() throws {
        let own = try record(.maintenance) {
            $0.texts.title = "Inventory"
            $0.texts.message = "Until noon"
        }
        #expect(try page("{{heading}}|{{text}}", own, in: .german) == "Inventory|Until noon")
        let empty = try record(.maintenance) {
            $0.texts.title = ""
            $0.texts.message = ""
        }
        #expect(try page("{{heading}}{{#title}}!{{/title}}", empty) == "Maintenance")
    }

    @Test func aPlannedWindowTellsWhenItIsOver() throws {
        let closed = try record(.maintenance) {
            $0.reason = try window(until: "2027-03-01T14:00:00Z")
        }
        #expect(
            try page("{{ends_label}} {{ends_text}}, {{ends_at}}", closed)
                == "Expected to be over: 1 March 2027, 14:00 (UTC+00:00), 2027-03-01T14:00:00+00:00"
        )
        let ahead = try record(.running) {
            $0.reason = .windowAhead(
                try name("app"), from: Zone.utc.zoned(try Instant(rfc3339: "2027-03-02T01:00:00Z")),
                until: Zone.utc.zoned(try Instant(rfc3339: "2027-03-02T03:00:00Z")))
        }
        #expect(
            try page("{{text}}", ahead)
                == "Maintenance is planned from 2 March 2027, 01:00 (UTC+00:00) until "
                + "2 March 2027, 03:00 (UTC+00:00).")
    }

    /// Seconds that the flags ask for, the end of a window; the refresh and the wait of a client.
    @Test(
        arguments: [
            (5, nil, "30", 5), (60, nil, "60", 60), (7_200, nil, "3600", 3_600),
            (nil, "2027-03-01T12:00:10Z", "30", 30), (nil, "2027-03-01T12:02:00Z", "120", 120),
            (nil, "2027-03-01T18:00:00Z", "300", 300), (90, "2027-03-01T18:00:00Z", "90", 90),
        ] as [(Int64?, String?, String, Int64)])
    func aClosedPageIsLoadedAgainInTime(
        _ wanted: Int64?, _ until: String?, _ refresh: String, _ retry: Int64
    ) throws {
        let closed = try record(.maintenance) {
            $0.retryAfter = wanted.map { .seconds($0) }
            if let until { $0.reason = try window(until: until) }
        }
        #expect(try page("{{refresh}}", closed) == refresh)
        #expect(closed.retrySeconds == retry)
    }

    @Test func theProblemOfAClosedServiceIsADocument() throws {
        let closed = try record(.maintenance) {
            $0.texts.title = "Inventory"
            $0.texts.message = "Until <noon> \"sharp\"\0"
            $0.retryAfter = .seconds(120)
        }
        let bytes = try #require(Page.standard.problem(of: closed, for: shop()))
        let problem = try #require(JSON.Value.parse(bytes).object)
        #expect(problem["type"] == "about:blank" && problem["title"] == "Service Unavailable")
        #expect(problem["status"] == 503 && problem["retry_after"] == 120)
        #expect(problem["detail"]?.string == "Until <noon> \"sharp\"\0")
        #expect(problem["heading"] == "Inventory" && problem["state"] == "maintenance")
        #expect(Page.standard.problem(of: try record(.running), for: try shop()) == nil)
        #expect(Page.standard.problem(of: try record(.undecided), for: try shop()) == nil)
    }

    @Test func onlyACountdownHasASunset() throws {
        let end = try Instant(rfc3339: "2027-03-13T08:05:00+09:00")
        let sunset = Page.sunset(of: try record(.countdown) { $0.endsAt = end })
        #expect(sunset?.text == "Fri, 12 Mar 2027 23:05:00 GMT" && sunset?.end == end)
        #expect(Page.sunset(of: try record(.countdown)) == nil)
        #expect(Page.sunset(of: try record(.ended) { $0.endsAt = end }) == nil)
    }

    /// A tmpfs has 4,096 bytes for each file that is not empty.
    @Test func thePageThatKillswitchdBringsIsOnePageOfMemory() throws {
        #expect(throws: Never.self) { try PageTemplate(Array(PageTemplate.standardText.utf8)) }
        for language in Language.allCases {
            for state in State.allCases {
                let record = try record(state) {
                    $0.endsAt = try Instant(rfc3339: "2027-03-13T08:05:00Z")
                    $0.daysLeft = 12
                }
                #expect(Page(in: language).bytes(of: record, for: try shop()).count < 4_096)
            }
        }
    }

    @Test func thePageNeedsNothingElse() {
        for word in ["<script", "http:", "https:", "url(", "@import", "<link", "<img"] {
            #expect(!PageTemplate.standardText.contains(word))
        }
    }
}
