import CivilTime
import Decision
import Support
import Testing

/// An override takes precedence over the flags until it expires or is released.
@Suite struct OverrideTests {
    @Test func theStateUndecidedCannotBeOrdered() throws {
        let now = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        #expect(Override(state: .undecided, cause: "", author: "", since: now, until: now) == nil)
    }

    /// Swift's `==` takes canonically equivalent strings for equal; causes are compared byte by byte.
    @Test func aCauseIsTheSameToTheByte() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        play.at(2, .force("shop", try .order(.maintenance, for: "caf\u{E9}")))
        #expect(play.at(3, .release("shop", by: "root", only: "cafe\u{301}")) == [])
        #expect(play.states == [.maintenance])
    }
}
