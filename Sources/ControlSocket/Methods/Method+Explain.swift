import Decision
import JSON

extension Method {
    /// Acts on nothing, but shows flags that not everybody may read.
    static let explain = Method(
        name: "Explain", parameters: ["service"],
        declaration: """
            # A line for people: what it is about, and the text.
            type Line (label: string, text: string)

            # Why a service is in its state, as far as its flags decide: what each switch has read and
            # says, and the policy. 'lines' is the text of 'killswitchctl explain', and 'switches' the same
            # as in its JSON.
            method Explain(service: string, sudoUser: ?string) -> (lines: []Line, switches: []object)
            """
    ) { (request) throws(MethodError) in
        let service = try request.daemon.service(request.parameters.string("service"))
        return .now(request.daemon.explanation(of: service.name) ?? [:])
    }
}
