package import JSON

extension Format {
    /// Its word in the configuration.
    package var word: String {
        switch self {
        case .serviceEnd: "service-end"
        case .status: "status"
        case .maintenance: "maintenance"
        case .switchObject: "switch"
        }
    }

    /// The flags among these that it looks at, as they stand there.
    package func relevant(in flags: JSON.Object) -> JSON.Object {
        let keys: [String]
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            keys = [endKeys.first { flags[$0] != nil }, countdownKey].compactMap(\.self)
        case .status(let place): keys = place.keys(else: Self.statusKeys, in: flags)
        case .maintenance(let place): keys = place.keys(else: Self.maintenanceKeys, in: flags)
        case .switchObject(let place): keys = place.keys(else: Self.switchKeys, in: flags)
        }
        return JSON.Object(keys.compactMap { key in flags[key].map { (key, $0) } })
    }

    private static let statusKeys = ["apiInactive", "forceUpdate", "retryInterval", "userMessage"]
    private static let maintenanceKeys = ["isUnderMaintenance", "title", "message"]
    private static let switchKeys = [
        "state", "ends_at", "windows", "minimum_version", "version", "expires", "title", "message",
        "retry_after",
    ]
}

extension Place {
    fileprivate func keys(else members: [String], in flags: JSON.Object) -> [String] {
        switch self {
        case .whole: members
        case .member(let key): [key]
        case .memberOrWhole(let key): flags[key] == nil ? members : [key]
        }
    }
}
