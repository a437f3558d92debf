/// What is kept of a stream of events over its connections.
package final class EventMemory {
    /// The identifier of the last event, which a new connection tells.
    private(set) package var lastID: String?
    private var refetch: Refetch?

    package init() {}

    /// One that cannot stand in a header is not kept.
    func note(id: ArraySlice<UInt8>) {
        guard id.count <= 1024, id.allSatisfy({ (0x20...0x7E).contains($0) }) else { return }
        lastID = id.isEmpty ? nil : String(decoding: id, as: UTF8.self)
    }

    func note(_ refetch: Refetch) {
        self.refetch = refetch
    }

    /// The newest wish for a fetch, once.
    package func takeRefetch() -> Refetch? {
        defer { refetch = nil }
        return refetch
    }
}
