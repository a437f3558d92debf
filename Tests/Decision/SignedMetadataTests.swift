import CivilTime
import Decision
import JSON
import Testing

@Suite struct SignedMetadataTests {
    private let now = Instant(seconds: 1_800_000_000)

    private func order(
        version: Int = 7, expires: String = "2027-01-15T09:00:00Z",
        audience: JSON.Value = .string("prod"), digest: UInt8 = 1
    ) throws -> SignedMetadata {
        let flags: JSON.Object = [
            "version": .number(JSON.Number(Int64(version))), "expires": .string(expires),
            "audience": audience,
        ]
        return try SignedMetadata(flags, digest: [digest])
    }

    @Test(arguments: ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z"])
    func anUnsetTimeOfSigningIsNone(_ issued: String) throws {
        let flags: JSON.Object = [
            "version": 1, "expires": "2027-01-15T09:00:00Z", "audience": "prod",
            "issued": .string(issued),
        ]
        #expect(try SignedMetadata(flags, digest: []).issued == nil)
    }

    private func refusal(
        of order: SignedMetadata, after accepted: AcceptedVersion? = nil, at now: Instant
    ) -> String? {
        do throws(DocumentRefusal) {
            _ = try order.check(by: "prod", after: accepted, at: now)
            return nil
        } catch {
            return "\(error.slug.rawValue): \(error)"
        }
    }

    private let seven = AcceptedVersion(number: 7, digest: [1])

    @Test func aHigherVersionIsAcceptedAndBecomesTheHighest() throws {
        #expect(try order().check(by: "prod", after: nil, at: now) == seven)
        #expect(
            try order(version: 8, digest: 2).check(by: "prod", after: seven, at: now)
                == AcceptedVersion(number: 8, digest: [2]))
    }

    @Test func aLowerVersionIsARollback() throws {
        #expect(
            refusal(of: try order(version: 6), after: seven, at: now)
                == "rollback: its version 6 is lower than 7, which was accepted before")
    }

    @Test func aVersionHasOneContent() throws {
        #expect(try order().check(by: "prod", after: seven, at: now) == seven)
        #expect(
            refusal(of: try order(digest: 2), after: seven, at: now)
                == "same-version-other-bytes: its version 7 was accepted before with different content"
        )
    }

    @Test func anEndInThePastRefusesAtFirstSightOnly() throws {
        let old = try order(expires: "2027-01-15T08:00:00Z")
        let expected =
            "expired-at-first-sight: it expired at 2027-01-15T08:00:00+00:00, before this host first saw it"
        #expect(refusal(of: old, at: now) == expected)
        #expect(refusal(of: old, at: now - .seconds(1)) == nil)
        #expect(refusal(of: old, after: seven, at: now) == nil)
        let six = AcceptedVersion(number: 6, digest: [1])
        #expect(refusal(of: old, after: six, at: now) == expected)
    }

    @Test func oneOfSeveralAudiencesIsEnough() throws {
        let both = try order(audience: .array([.string("stage"), .string("prod")]))
        #expect(refusal(of: both, at: now) == nil)
    }

    @Test(arguments: [
        (JSON.Value.string("stage"), "other-audience: it is for 'stage', this host is 'prod'"),
        (.string("prod "), "other-audience: it is for 'prod ', this host is 'prod'"),
        (.array([]), "other-audience: it is for nobody, this host is 'prod'"),
        (
            .array([.string("a"), .string("b")]),
            "other-audience: it is for 'a, b', this host is 'prod'"
        ),
    ])
    func anotherAudienceIsRefused(audience: JSON.Value, expected: String) throws {
        #expect(refusal(of: try order(audience: audience), at: now) == expected)
    }

    @Test(arguments: [
        ("{}", "key 'version' is missing"),
        (#"{"version":"7"}"#, "key 'version' is a string, not a whole number"),
        (#"{"version":7.5}"#, "key 'version' is the number '7.5', not a whole number"),
        (#"{"version":7}"#, "key 'expires' is missing"),
        (#"{"version":7,"expires":"soon"}"#, "key 'expires' is 'soon', not an RFC 3339 time"),
        (#"{\#(fresh)}"#, "key 'audience' is missing"),
        (
            #"{\#(fresh),"audience":null}"#,
            "key 'audience' is null, not a string or a list of strings"
        ),
        (#"{\#(fresh),"audience":[1]}"#, "key 'audience[]' is a number, not a string"),
        (
            #"{\#(fresh),"audience":"prod","issued":"now"}"#,
            "key 'issued' is 'now', not an RFC 3339 time"
        ),
    ])
    func membersThatCannotBeReadAreRefused(text: String, expected: String) throws {
        try expectRefusal(of: text, "\(expected), and a signed document needs it")
    }

    @Test func noDocumentIsIssuedAfterItsEnd() throws {
        try expectRefusal(
            of: #"{\#(Self.fresh),"audience":"prod","issued":"2027-01-15T09:00:01Z"}"#,
            "its 'issued' is later than its 'expires'")
    }

    private static let fresh = #""version":7,"expires":"2027-01-15T09:00:00Z""#

    private func expectRefusal(of text: String, _ expected: String) throws {
        let flags = try FlagDocument.parse(Array(text.utf8))
        do throws(DocumentRefusal) {
            _ = try SignedMetadata(flags, digest: [])
            Issue.record("accepted")
        } catch {
            #expect(error.description == expected)
        }
    }
}
