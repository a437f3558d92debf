import CivilTime
import Decision
import Drivers
import Support
import Testing

@Suite struct OutboxTests {
    private func publication(
        _ name: String, _ gate: Gate, message: String? = nil
    ) throws -> (service: Service, record: PublishedVerdict) {
        let service = Service(
            name: try #require(ServiceName(name)), zone: .utc,
            switches: [Switch(source: "app", format: .status(.whole))])
        var verdict = Verdict(
            state: gate == .open ? .running : .maintenance, gate: gate, reason: .flags("app"))
        verdict.texts.message = message
        let time = Instant(seconds: 1_800_000_000)
        return (
            service,
            PublishedVerdict(
                verdict: verdict, since: time, generation: 1, decidedAt: time, nextEdge: time)
        )
    }

    /// The names of the services whose files are written, and `|` where an event ends.
    private func order(_ outbox: inout Outbox) -> [String] {
        var order: [String] = []
        while let step = outbox.next() {
            switch step {
            case .publish(let service, let record):
                order.append(service.name.text + (record.verdict.texts.message ?? ""))
            case .effect: order.append("effect")
            case .end(let events): order += events.map { _ in "|" }
            }
        }
        return order
    }

    @Test func closingsComeFirstAndThoseOfTheSmallestEventBeforeAll() throws {
        var outbox = Outbox()
        outbox.add(
            try ["a", "b", "c"].map { try publication($0, .closed) } + [publication("d", .open)],
            of: [.started])
        outbox.add([try publication("e", .open), try publication("f", .closed)], of: [.woke])
        #expect(outbox.hasClosings)
        #expect(order(&outbox) == ["f", "a", "b", "c", "d", "|", "e", "|"])
        #expect(outbox.isEmpty && !outbox.hasClosings)
    }

    /// A write that has failed is repeated by the event that decides the service anew.
    @Test func ofTwoRecordsOfAServiceInOneEventTheNewerIsWritten() throws {
        var outbox = Outbox()
        outbox.add([
            try publication("a", .open, message: "old"),
            try publication("a", .closed, message: "new"),
        ])
        #expect(order(&outbox) == ["anew"])
        outbox.add([
            try publication("a", .closed, message: "old"),
            try publication("a", .open, message: "new"),
        ])
        #expect(order(&outbox) == ["anew"])
    }

    @Test func aClosedServiceWithOtherTextsIsNoClosing() throws {
        var outbox = Outbox()
        outbox.add([try publication("a", .closed)])
        _ = order(&outbox)
        outbox.add([try publication("b", .open)])
        outbox.add([try publication("a", .closed, message: "!"), try publication("c", .closed)])
        #expect(order(&outbox) == ["c", "b", "a!"])
        outbox.add([try publication("a", .open)])
        outbox.add([try publication("a", .closed)])
        #expect(order(&outbox) == ["a"])
    }

    @Test func onlyTheNewestRecordOfAServiceIsWritten() throws {
        var outbox = Outbox()
        outbox.add([try publication("a", .open, message: "1"), try publication("b", .open)])
        outbox.add([try publication("a", .open, message: "2")])
        #expect(outbox.awaits("a"))
        #expect(order(&outbox) == ["a2", "b"])
        outbox.add([try publication("a", .open)])
        outbox.drop("a")
        #expect(order(&outbox) == [])
    }

    @Test func whatIsSaidOfAnEventFollowsItsFiles() throws {
        var outbox = Outbox()
        outbox.add(
            [try publication("a", .open), try publication("b", .open)], [.deliverNotice("a")],
            of: [.started])
        #expect(order(&outbox) == ["a", "b", "effect", "|"])
    }
}
