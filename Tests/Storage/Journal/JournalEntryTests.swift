import Decision
import Storage
import Support
import Systemd
import Testing

/// An entry about several services has one field for each, so that a search for any of them finds it.
@Test func anEntryOfSeveralServicesHasAFieldForEach() throws {
    let services: [ServiceName] = ["shop", "web"]
    let expected = services.map { Field.service($0) }
    #expect(LogMessage.closingHeld(services, earlier: [], limit: 1).entry.fields == expected)
    #expect(
        LogMessage.closingConfirmed(services, by: "alice").entry.fields
            == expected + [Field.author("alice")])
}
