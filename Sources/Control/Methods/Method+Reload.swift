import Decision
import JSON

extension Method {
    static let reload = Method(
        name: "Reload", access: .acting,
        declaration: """
            # Reads the configuration again. One that is wrong changes nothing, and is the error
            # ConfigurationRefused with file and line of each mistake. 'warnings' are about what is
            # probably one.
            method Reload(sudoUser: ?string) ->
              (services: []string, sources: []string, warnings: []string)
            """
    ) { (request) throws(MethodError) in
        let daemon = request.daemon
        let warnings = try daemon.reload()
        return .after(.settled) {
            let overview = daemon.overview
            return [
                "services": .names(overview.services.map(\.name)),
                "sources": .names(overview.sources.map(\.name)),
                "warnings": .strings(warnings),
            ]
        }
    }
}
