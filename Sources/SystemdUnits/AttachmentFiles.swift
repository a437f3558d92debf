package import Decision
package import Files
package import Gates
import Glibc

/// A unit that `killswitchctl attach` has attached to a service.
package struct Attachment: Hashable, Sendable {
    /// The target that the unit stops with.
    package let target: GateTarget
    package let unit: UnitName
    /// Whether it starts with a closing, while other units still stop, and not after it.
    package let isEarly: Bool
    /// Whether it is there because the configuration lists the unit, and nobody has attached it by hand.
    package let isOfConfiguration: Bool

    package init(
        target: GateTarget, unit: UnitName, isEarly: Bool = false, isOfConfiguration: Bool = false
    ) {
        self.target = target
        self.unit = unit
        self.isEarly = isEarly
        self.isOfConfiguration = isOfConfiguration
    }

    /// The attachment that a drop-in of a unit describes; nil if it names no target.
    init?(of unit: UnitName, in dropIn: String) {
        let lines = dropIn.split(separator: "\n")
        // The first of either names the target. A unit that starts early has no order.
        let names = ["Requisite=", "After="].flatMap { key in
            lines.filter { $0.hasPrefix(key) }.compactMap {
                $0.dropFirst(key.count).split(separator: " ").first
            }
        }
        guard
            let target = names.compactMap({ UnitName(String($0)) }).compactMap({ GateTarget($0) })
                .first
        else { return nil }
        self.init(
            target: target, unit: unit, isEarly: !lines.contains { $0.hasPrefix("After=") },
            isOfConfiguration: lines.first.map { $0 == Self.head + Self.fromConfiguration } ?? false
        )
    }

    /// The start of every drop-in of `attach`. The command that wrote it follows.
    package static let head = "# Written by: "
    /// The command that writes the drop-ins of units that the configuration lists.
    package static let fromConfiguration = "killswitchctl attach --from-configuration"

    package var service: ServiceName { target.service }
}

/// The drop-ins by which units are attached to gates, in `/etc/systemd/system`.
///
/// systemd reads them with the file of the unit. They name the attached units also after systemd has
/// forgotten that, because the file of a unit is gone or the unit is masked.
package enum AttachmentFiles {
    package static let path = "/etc/systemd/system"

    /// The folder of the drop-ins of a unit.
    package static func folder(of unit: UnitName) -> String { "\(path)/\(unit).d" }

    /// The path of a unit's drop-in for a service: one, so that it is attached to one state of it at most.
    package static func dropIn(of unit: UnitName, for service: ServiceName) -> String {
        "\(folder(of: unit))/\(prefix)\(service).conf"
    }

    /// The folder of the drop-ins of a target.
    package static func folder(of target: GateTarget) -> String {
        "\(path)/\(target.unit?.text ?? "").d"
    }

    /// The path of a target's drop-in for a unit: the target stops the unit also if the unit's own is not read.
    package static func dropIn(of target: GateTarget, for unit: UnitName) -> String {
        "\(folder(of: target))/\(prefix)\(unit).conf"
    }

    /// All attached units, by service and name. An image that is being built may lack the directory.
    package static func all() throws(FileError) -> [Attachment] {
        var found: [Attachment] = []
        for entry in try File.exists(path) ? Directory.list(path) : [] where entry.hasSuffix(".d") {
            guard let unit = UnitName(String(entry.dropLast(2))),
                try isDirectory("\(path)/\(entry)")
            else { continue }
            for service in try services(in: "\(path)/\(entry)") {
                guard let attachment = try attachment(of: unit, for: service) else { continue }
                found.append(attachment)
            }
        }
        return found.sorted { ($0.target, $0.unit) < ($1.target, $1.unit) }
    }

    /// How a unit is attached to a service; nil if it is not.
    package static func attachment(
        of unit: UnitName, for service: ServiceName
    ) throws(FileError) -> Attachment? {
        do {
            let bytes = try File.read(dropIn(of: unit, for: service), limit: 64 << 10)
            return Attachment(of: unit, in: String(decoding: bytes, as: UTF8.self))
        } catch  where error.isNotFound || error.isNoFile || error.isPermissionDenied {
            return nil
        }
    }

    /// Whether systemd would search the path for drop-ins: it passes over files, and links that lead nowhere.
    private static func isDirectory(_ path: String) throws(FileError) -> Bool {
        do {
            return try File.attributes(of: path).kind == .directory
        } catch  where error.isNotFound || error.code == ELOOP {
            return false
        }
    }

    /// The services that a unit with this folder is attached to. A folder may be closed to this user.
    private static func services(in folder: String) throws(FileError) -> [ServiceName] {
        let names: [String]
        do { names = try Directory.list(folder) } catch  where error.isPermissionDenied {
            return []
        }
        return names.compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(".conf") else { return nil }
            return ServiceName(String(name.dropFirst(prefix.count).dropLast(".conf".count)))
        }
    }

    private static let prefix = "50-killswitch-"
}

extension FileError {
    fileprivate var isNoFile: Bool { code == EISDIR || cause == .notRegularFile }
}
