import Decision
import Journal
import Records
import Testing

/// What concerns several services names each of them in a field of its own, so that it is found by any.
@Test func anEntryOfSeveralServicesHasAFieldForEach() throws {
    let services: [ServiceName] = [try named("shop"), try named("web")]
    let expected = services.map { Field.service($0) }
    #expect(Notice.closingHeld(services, limit: 1).entry.fields == expected)
    #expect(
        Notice.closingConfirmed(services, by: "alice").entry.fields
            == expected + [Field.author("alice")])
}
