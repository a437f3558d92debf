import CivilTime
import Decision
import JSON

extension Method {
    static let force = Method(
        name: "Force",
        parameters: ["service", "state", "reason", "until", "seconds", "ifOpen", "now"],
        declaration: """
            # Orders a state for a service, whatever its flags say: until a time (RFC 3339), until
            # "released", or for so many seconds. It is in force at once, and kept over restarts.
            # A reason has at most 4096 bytes.
            # 'problem' says why it could not be stored: then a restart would lose it.
            # 'gate' is what the gate is after systemd has taken or refused the move; null if that is not
            # known. The units may still be stopping.
            # With 'ifOpen' it closes the gate only if that is open and no other order is in force, as a
            # drill needs, and fails otherwise. The check and the order are one step.
            # With 'now' units stop at once, without the drain of the service.
            method Force(
              service: string,
              state: string,
              reason: string,
              until: ?string,
              seconds: ?int,
              ifOpen: ?bool,
              now: ?bool,
              sudoUser: ?string
            ) -> (service: Service, problem: ?string, gate: ?Gate)
            """
    ) { (request) throws(MethodError) in
        let parameters = request.parameters
        let daemon = request.daemon
        let service = try daemon.service(parameters.string("service"))
        let order = try order(of: request)
        let ifOpen = try parameters.bool("ifOpen")
        if ifOpen {
            let gate = service.policy.gate(of: order.state)
            guard gate == .closed else { throw .invalidParameter("state") }
            guard order.until != nil else { throw .invalidParameter("until") }
            guard daemon.gates != nil else { throw .gatesNotMoved(service.name) }
        }
        let event = Event.force(service.name, order, ifOpen: ifOpen)
        daemon.post(event)
        var isTaken = false
        return .settled(daemon) { () throws(MethodError) in
            let rejection = daemon.rejections.first {
                $0.service == service.name && $0.order == order
            }
            if let rejection, !isTaken { throw error(of: service, rejection.objection, daemon) }
            isTaken = true
            guard daemon.isGateAnswered(service.name) else { return nil }
            return [
                "service": daemon.state(of: service.name).map(JSON.Value.object) ?? .null,
                "problem": .optional(daemon.machine.problem(of: .storeOverrides)),
                "gate": daemon.gate(of: service.name).map(JSON.Value.object) ?? .null,
            ]
        }
    }

    private static func order(of request: MethodRequest) throws(MethodError) -> Override {
        let parameters = request.parameters
        let now = request.daemon.now.wall
        guard let state = State(rawValue: try parameters.string("state")) else {
            throw .invalidParameter("state")
        }
        let cause = try parameters.string("reason")
        guard !cause.allSatisfy(\.isWhitespace), cause.utf8.count <= longestReason else {
            throw .invalidParameter("reason")
        }
        let until: Instant?
        switch (try parameters.optionalString("until"), try parameters.optionalInteger("seconds")) {
        case ("released"?, nil): until = nil
        case (let text?, nil):
            let end: Instant
            do { end = try Instant(rfc3339: text) } catch { throw .invalidParameter("until") }
            guard end > now else { throw .notInTheFuture(text) }
            until = end
        case (nil, let seconds?):
            guard (1...longestOrder).contains(seconds) else { throw .invalidParameter("seconds") }
            until = now + .seconds(seconds)
        case (nil, nil): throw .invalidParameter("until")
        case (_?, _?): throw .invalidParameter("seconds")
        }
        guard
            let order = Override(
                state: state, cause: cause, author: request.author, since: now, until: until,
                isUrgent: try parameters.bool("now"), isDrill: try parameters.bool("ifOpen"))
        else { throw .invalidParameter("state") }
        return order
    }

    /// The error for an order with `ifOpen` that the machine has rejected.
    private static func error(
        of service: Service, _ objection: OrderObjection, _ daemon: any ControllableDaemon
    ) -> MethodError {
        switch objection {
        case .overridden(let override):
            .alreadyForced(service.name, override.json(in: service.zone))
        case .held: .closingHeld(service.name)
        case .notOpen(let state): .gateNotOpen(service.name, state)
        // A reload has removed the service in between.
        case .notConfigured: .noSuchService(service.name.text, known: daemon.services.map(\.name))
        }
    }

    /// The longest reason in bytes. Each record of the decision holds it.
    package static let longestReason = 4096

    /// A hundred years in seconds. More is a mistake, and far more has no date.
    package static let longestOrder: Int64 = 100 * 366 * 86_400
}
