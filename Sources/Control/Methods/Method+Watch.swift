import Decision
import JSON

extension Method {
    /// A client that reads slowly misses states between two replies, never the last state.
    static let watch = Method(
        name: "Watch", access: .reading, parameters: ["services"],
        declaration: """
            # These services, or all that there are and will be, once each is decided; then those
            # that have changed, and those that are no longer configured, until the client has gone.
            # A client that is slow gets the newest state of each, and not all that were between.
            method Watch(services: ?[]string) -> (services: []Service, gone: []string)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let named = try request.parameters.strings("services")
        _ = try daemon.services(named)
        var told: [ServiceName: Record] = [:]
        let news = { () -> JSON.Object? in
            let configured = daemon.services.map(\.name)
            let names = named.isEmpty ? configured : configured.filter { named.contains($0.text) }
            if told.isEmpty, daemon.decided(names) == nil { return nil }
            var changed: [JSON.Value] = []
            for name in names {
                guard let record = daemon.record(of: name), let state = daemon.state(of: name),
                    told[name]?.isSame(as: record) != true
                else { continue }
                told[name] = record
                changed.append(.object(state))
            }
            let gone = told.keys.filter { !names.contains($0) }.sorted()
            for name in gone { told[name] = nil }
            guard !changed.isEmpty || !gone.isEmpty else { return nil }
            return ["services": .array(changed), "gone": .names(gone)]
        }
        if !request.isStream { return try .when(news) }
        return .later { (_) in news().map(Reply.more) }
    }
}

extension Record {
    /// Whether clients need not be told: only times of writing and of validity differ.
    fileprivate func isSame(as other: Record) -> Bool {
        verdict == other.verdict && generation == other.generation && since == other.since
    }
}
