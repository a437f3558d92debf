import JSON

/// The format `maintenance`: whether the service is under maintenance, and what to tell its users.
enum Maintenance {
    /// The texts count during maintenance alone: they are often prepared long before it.
    static func read(_ object: JSON.Object) throws(InvalidFlag) -> Reading {
        let isUnderMaintenance = try object.boolean("isUnderMaintenance")
        let title = try object.optionalString("title")
        let message = try object.optionalString("message")
        guard isUnderMaintenance else { return Reading(claims: [.running]) }
        return Reading(claims: [.maintenance], title: title, message: message)
    }
}
