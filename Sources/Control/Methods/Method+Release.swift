import Decision
import JSON

extension Method {
    static let release = Method(
        "Release", .acting, parameters: ["service"],
        declaration: """
            # Ends what Force has ordered, so that the flags decide again. 'wasForced' is false where
            # there was nothing to end.
            method Release(service: string) -> (service: Service, wasForced: bool)
            """
    ) { (request) throws(MethodError) in
        let subject = request.subject
        let service = try subject.service(request.parameters.string("service"))
        let event = Event.release(service.name, by: request.author)
        let wasForced = subject.record(of: service.name)?.verdict.override != nil
        subject.post(event)
        var isTaken = false
        return .later { (occasion) throws(MethodError) in
            if occasion == .event(event) { isTaken = true }
            guard isTaken, occasion == .settled else { return .waiting }
            guard let state = subject.decided([service.name]) else { return .waiting }
            guard let state = state.first else {
                throw .noSuchService(service.name.text, known: subject.services.map(\.name))
            }
            return .done(["service": state, "wasForced": .bool(wasForced)])
        }
    }
}
