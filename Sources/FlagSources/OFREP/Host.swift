import JSON

/// The facts of this host that a server evaluates flags by. Facts that are not known are left out.
package struct Host: Hashable, Sendable {
    /// The machine's id for this application: `systemd-id128 machine-id --app-specific=…`.
    package var machineID: String?
    package var name: String?
    /// `ID` of os-release(5), such as `debian`.
    package var system: String?
    /// `VERSION_ID` of os-release(5), such as `12`.
    package var systemVersion: String?

    /// The facts that are known.
    package init(
        machineID: String? = nil, name: String? = nil, system: String? = nil,
        systemVersion: String? = nil
    ) {
        self.machineID = machineID
        self.name = name
        self.system = system
        self.systemVersion = systemVersion
    }

    /// The context of an evaluation; `more` are members that are added or replaced. Without a machine id,
    /// as in many containers, the host's name is the targeting key, which the protocol requires.
    func context(with more: JSON.Object) -> JSON.Object {
        var context: JSON.Object = ["targetingKey": .string(machineID ?? name ?? "unknown")]
        let facts = [("hostName", name), ("os", system), ("osVersion", systemVersion)]
        for case (let key, let fact?) in facts { context[key] = .string(fact) }
        for (key, value) in more { context[key] = value }
        return context
    }
}
