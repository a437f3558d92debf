import JSON

/// The format `status`: an API that is inactive, an update that is required, when to ask again.
enum Status {
    static func read(_ object: JSON.Object) throws(InvalidFlag) -> Reading {
        let isInactive = try object.boolean("apiInactive")
        let needsUpdate = try object.boolean("forceUpdate")
        var claims: [Claim] = []
        if needsUpdate { claims.append(.updateRequired) }
        if isInactive { claims.append(.maintenance) }
        if claims.isEmpty { claims.append(.running) }
        return Reading(
            claims: claims, message: try object.optionalString("userMessage"),
            retryAfter: try object.optionalSeconds("retryInterval").map(clampedRetry))
    }
}

/// What a remote flag may ask for between two polls: 1 second to 1 hour.
func clampedRetry(_ wish: Duration) -> Duration {
    min(max(wish, .seconds(1)), .seconds(3600))
}
