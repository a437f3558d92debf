import CivilTime
import Decision
import Support
import Testing

/// No error moves a gate in any state and under any order, and none ends the polling. This tests the
/// whole machine, not only the decision.
@Suite struct ErrorTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let state: State
        let override: State?

        var testDescription: String { "\(state) \(override.map { "under \($0)" } ?? "")" }
    }

    static let cases = State.allCases.filter { $0 != .undecided }.flatMap { state in
        ([nil] + State.allCases.map(Optional.some).filter { $0 != .undecided })
            .map { Case(state: state, override: $0) }
    }

    private static let failures: [Outcome] = [
        .failure(Failure(.unreachable, "connection refused")),
        .failure(Failure(.unreachable, "503", retryAfter: .seconds(30))),
        .failure(Failure(.refused, "403")),
        .failure(Failure(.invalid, "the answer is a web page, not JSON")),
    ]

    private static let bodies = [
        "{}", #"{"state":"over"}"#, #"{"state":7}"#, #"{"state":null}"#, #"{"state":"undecided"}"#,
        #"{"state":"ended","ends_at":"soon"}"#, #"{"state":"ended","windows":7}"#,
        #"{"state":"ended","windows":[{}]}"#, #"{"state":"ended"}"#,
        #"{"state":"ended","version":1}"#, #"{"state":"running","version":2.5}"#,
        #"{"state":"running","version":1,"minimum_version":" "}"#,
    ]

    @Test(arguments: cases) func noErrorMovesAGate(_ row: Case) throws {
        let shop = try service(
            format: .switchObject(.whole), policy: Policy(minClosed: .zero))
        var play = try Transcript([shop]).started()
        try play.at(1, "app", answers: #"{"state":"\#(row.state.rawValue)","version":9}"#)
        if let state = row.override {
            play.at(2, .force(shop.name, try .order(state)))
        }
        let outcomes =
            try Self.failures
            + Self.bodies.map { .answer(try answer($0, fetchedAt: play.now.wall)) }
        for (index, outcome) in outcomes.enumerated() {
            let effects = play.at(Double(10 + index), .fetchEnded("app", outcome))
            for effect in effects {
                if case .publish(_, let record) = effect {
                    #expect(record.verdict.state == row.override ?? row.state, "\(outcome)")
                }
                if case .storeFlags = effect { Issue.record("stored: \(outcome)") }
            }
            #expect(play.machine.isProgressing(at: play.now))
        }
        #expect(
            play.machine.overview(at: play.now).services.map(\.state)
                == [row.override ?? row.state])
    }

    /// Two machines with the same seed and the same events have the same effects, jitter included.
    @Test func theSameEventsGiveTheSameEffects() throws {
        let shop = try service(format: .switchObject(.whole))
        var (one, other) = (try Transcript([shop]), try Transcript([shop]))
        for (index, body) in (Self.bodies + [#"{"state":"maintenance","version":10}"#]).enumerated()
        {
            let (left, right) = (
                try one.at(Double(index), "app", answers: body),
                try other.at(Double(index), "app", answers: body)
            )
            #expect(left == right)
        }
        #expect(one.text == other.text)
    }
}
