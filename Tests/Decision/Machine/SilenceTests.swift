import CivilTime
import Decision
import Testing

/// Silent sources over restarts and sleeps of the host: a start reverts no decision, and a source that was
/// not polled is not silent.
struct SilenceTests {
    private static let open = #"{"state": "running"}"#
    private static let maintenance = #"{"state": "maintenance"}"#
    private static let expired = #"{"state": "running", "expires": "2027-03-01T11:30:00Z"}"#

    private static func shop(_ whenStale: WhenStale, maxStale: Duration? = .seconds(600)) throws
        -> Service
    {
        try service(
            format: .switchObject(.whole),
            policy: Policy(maxStale: maxStale, whenStale: whenStale, minClosed: .zero))
    }

    struct Decided: CustomTestStringConvertible, Sendable {
        let body: String
        let whenStale: WhenStale
        let stood: State
        var testDescription: String { "\(whenStale) \(body)" }
    }

    /// A restart once reverted for half a minute the opening or closing by stale flags.
    @Test(arguments: [
        Decided(body: open, whenStale: .closed, stood: .maintenance),
        Decided(body: expired, whenStale: .closed, stood: .maintenance),
        Decided(body: maintenance, whenStale: .open, stood: .running),
        Decided(body: open, whenStale: .hold, stood: .running),
    ])
    func aRestartKeepsTheDecisionThatSilenceMade(_ decided: Decided) throws {
        let memory = try Memory.stored(
            decided.body, fetchedAt: "2027-03-01T11:00:00Z", state: decided.stood,
            boot: "this-boot")
        var play = try Transcript([try Self.shop(decided.whenStale)], memory: memory)
        #expect(play.states(at: 0, .started) == [decided.stood])
        play.hang(until: 29)
        #expect(play.states(at: 29) == [decided.stood])
        #expect(play.states(at: 31) == [decided.stood])
    }

    /// A changed time zone makes the switch read its flags again, and changes no decision.
    @Test func aReloadKeepsTheDecisionThatSilenceMade() throws {
        var play = try Transcript([try Self.shop(.closed)]).answered(Self.open)
        play.hang(until: 600)
        #expect(play.states(at: 600) == [.maintenance])
        let shop = try Self.shop(.closed)
        let other = try service(
            format: .switchObject(.whole), policy: shop.policy, zone: zone("Asia/Tokyo"))
        #expect(play.states(at: 601, .reconfigured(Plan([other]))) == [.maintenance])
    }

    /// A host that had slept for longer than `max_stale` once closed its services, just before their
    /// sources answered.
    @Test func afterASleepASourceIsPolledBeforeItsFlagsAreStale() throws {
        var play = try Transcript([try Self.shop(.closed)]).answered(Self.open)
        #expect(play.states(at: 7200) == [.running])
        #expect(play.text.contains("fetch app"))
        play.at(7202, .fetchEnded(try named("app"), .failure(Failure(.unreachable, "no route"))))
        #expect(play.states == [.running])
        play.at(7204, .fetchEnded(try named("app"), .unchanged))
        play.hang(until: 7300)
        #expect(play.states == [.running])
    }

    @Test func flagsAreStaleIfTheirSourceStaysSilentAfterTheSleep() throws {
        var play = try Transcript([try Self.shop(.closed)]).answered(Self.open)
        play.at(7200, .woke)
        play.hang(until: 7229)
        #expect(play.states == [.running])
        play.hang(until: 7231)
        #expect(play.states == [.maintenance])
    }

    /// An ended service does not reopen when its source is shut down too.
    @Test func anEndedServiceStaysEndedWhenItsSourceFallsSilent() throws {
        var play = try Transcript([try Self.shop(.open)]).answered(#"{"state": "ended"}"#)
        play.hang(until: 700)
        #expect(play.states == [.ended])
        #expect(play.machine.publishedVerdict(of: try named("shop"))?.verdict.isStale == true)
    }
}
