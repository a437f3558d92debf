import Decision
import Gates
import JSON

extension Method {
    static let reload = Method(
        name: "Reload",
        declaration: """
            # A unit of a service; 'problem' says why it is not attached.
            type ListedUnit (service: string, name: string, problem: ?string)

            # Reads the configuration again. One that is wrong changes nothing, and is the error
            # ConfigurationRefused with file and line of each mistake. 'warnings' are about what is
            # probably one. The units that it lists are attached by then, as far as that takes less
            # than 10 s: 'attached' and 'detached' are those that were not before, and are not now;
            # 'unattached' those that are listed and not attached. 'problems' are about files beside
            # it that cannot be used, such as lists of signers.
            method Reload(sudoUser: ?string) ->
              (
                services: []string,
                sources: []string,
                warnings: []string,
                problems: []string,
                attached: []ListedUnit,
                detached: []ListedUnit,
                unattached: []ListedUnit
              )
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let warnings = try daemon.reload()
        return .settled(daemon) {
            guard let units = daemon.attachmentOutcome else { return nil }
            let overview = daemon.overview
            return [
                "services": .names(overview.services.map(\.name)),
                "sources": .names(overview.sources.map(\.name)),
                "warnings": .strings(warnings),
                "problems": .strings(
                    overview.findings.filter { $0.kind == .signersUnreadable }.map(\.sentence)),
                "attached": .array(units.attached.map { $0.json() }),
                "detached": .array(units.detached.map { $0.json() }),
                "unattached": .array(
                    units.missing.sorted { $0.key < $1.key }.map { $0.key.json($0.value) }),
            ]
        }
    }
}

extension ListedUnit {
    /// A `ListedUnit` of the interface.
    fileprivate func json(_ problem: UnitProblem? = nil) -> JSON.Value {
        .object([
            "service": .string(service.text), "name": .string(name.text),
            "problem": .optional(problem?.sentence),
        ])
    }
}
