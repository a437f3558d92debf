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
            # Called without 'more' it is the error ExpectedMore.
            method Watch(services: ?[]string) -> (services: []Service, gone: []string)
            """
    ) { (request) throws(MethodError) in
        guard request.isStream else { throw .expectedMore }
        let (daemon, changes) = (request.daemon, request.changes)
        let named = try request.parameters.strings("services")
        let chosen = named.isEmpty ? nil : Set(try daemon.services(named))
        var known: Int?
        return .onChange { _ in
            changes.update(daemon.machine)
            let isChosen = { (name: ServiceName) in chosen?.contains(name) ?? true }
            guard let last = known else {
                let services = daemon.services
                guard daemon.areDecided(services, isChosen) else { return nil }
                known = changes.number
                return ReplyParameters([:]).list("services", of: services) {
                    isChosen($0.name) ? daemon.json(of: $0) : nil
                }.value("gone", []).continued
            }
            let (changed, gone, number) = changes.next(after: last, isChosen)
            known = number
            guard !changed.isEmpty || !gone.isEmpty else { return nil }
            return ReplyParameters([:]).list("services", of: changed) {
                daemon.state(of: $0).map(JSON.Value.object)
            }.value("gone", .names(gone)).continued
        }
    }
}
