import ArgumentParser
import Decision

/// A service with the units that are to be attached to it.
struct AttachedGroup {
    let service: ServiceName
    let units: [UnitName]
    let state: AttachmentPoint
    /// Whether the units start before the others are down.
    let isEarly: Bool
    /// Whether oneshot services run at each opening.
    let runsAtOpen: Bool
}

/// The name of a unit in which `%s` stands for the service.
struct UnitPattern: ExpressibleByArgument {
    /// The name as it was typed.
    let text: String

    init?(argument: String) {
        text = argument
        // Any name will do to see whether the rest of it is one.
        guard Self.unit(argument, "a") != nil else { return nil }
    }

    /// The unit of a service; nil if the name would be too long.
    func unit(of service: ServiceName) -> UnitName? { Self.unit(text, service.text) }

    private static func unit(_ pattern: String, _ service: String) -> UnitName? {
        var parts = pattern.split(separator: "%", omittingEmptySubsequences: false)[...]
        var name = String(parts.removeFirst())
        for part in parts {
            guard part.first == "s" else { return nil }
            name += service + part.dropFirst()
        }
        return UnitName(argument: name)
    }
}
