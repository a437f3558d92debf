import ArgumentParser
import Decision
import Gates

/// The targets of a service that units can be attached to: the open gate, one of the states, or the notices.
enum AttachmentPoint: String, CaseIterable {
    case open
    case countdown
    case updateRequired = "update-required"
    case maintenance
    case ended
    case notice

    /// The point of a target to which a unit is attached.
    init(_ target: GateTarget) {
        self =
            switch target.kind {
            case .open, .closed, .variant: .open
            case .countdown: .countdown
            case .updateRequired: .updateRequired
            case .maintenance: .maintenance
            case .ended: .ended
            case .notice: .notice
            }
    }

    /// The target of this service.
    func target(of service: ServiceName) -> GateTarget {
        let kind: GateTarget.Kind =
            switch self {
            case .open: .open
            case .countdown: .countdown
            case .updateRequired: .updateRequired
            case .maintenance: .maintenance
            case .ended: .ended
            case .notice: .notice
            }
        return GateTarget(service: service, kind: kind)
    }

    /// Whether its units run behind a closed gate, so that they can start while others still stop.
    var isOfClosedGate: Bool {
        switch self {
        case .open, .countdown, .notice: false
        case .updateRequired, .maintenance, .ended: true
        }
    }
}

extension AttachmentPoint: ExpressibleByArgument {
    /// `--state` names a state; a notice is none.
    init?(argument: String) {
        self.init(rawValue: argument)
        if self == .notice { return nil }
    }

    static var allValueStrings: [String] {
        allCases.filter { $0 != .notice }.map(\.rawValue)
    }

    /// The option of the command line that names it.
    var option: String {
        switch self {
        case .open: ""
        case .notice: " --on \(rawValue)"
        case .countdown, .updateRequired, .maintenance, .ended: " --state \(rawValue)"
        }
    }
}

/// The word of `--on`.
enum OnArgument: String, CaseIterable, ExpressibleByArgument {
    case notice
}
