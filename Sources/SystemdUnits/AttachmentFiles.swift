package import Decision
package import Files
package import Gates
import Glibc

extension Attachment {
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
            target: target, unit: unit, isEarly: !lines.contains { $0.hasPrefix("After=") })
        isDisabled = lines.contains { $0 == Self.disabledLine }
    }

    /// The line of a drop-in of a unit that was enabled, and is not as long as it is attached. systemd passes over it.
    package static let disabledLine = "X-KillswitchDisabled=yes"

    /// The start of every drop-in of `attach`. The command that wrote it follows.
    package static let head = "# Written by: "
    /// The command that writes those of units that 'units' of a service lists.
    package static let fromConfiguration = "killswitchctl attach --from-configuration"
    /// The start of the second line. An earlier version attached units that no configuration lists, without it.
    package static let listedLine = "# It follows the configuration"
}

/// The drop-ins by which units are attached to gates.
///
/// systemd reads them with the file of the unit. They name the attached units also after systemd has
/// forgotten that, because the file of a unit is gone or the unit is masked.
package enum AttachmentFiles {
    /// The folder for new drop-ins: what it has below /run is gone after a boot, and is written again before any unit.
    package static var folder: String {
        let (first, second) = (Attachment.folders[0], Attachment.folders[1])
        return unsafe access(first, W_OK) != 0 && errno == EROFS ? second : first
    }

    /// All attached units, by service and name: by the drop-ins of the units, and by those of the targets, of which one
    /// may be missing. An image that is being built may lack the directory.
    package static func all() throws(FileError) -> [Attachment] {
        try all(in: Attachment.folders[0]) + all(in: Attachment.folders[1])
    }

    private static func all(in folder: String) throws(FileError) -> [Attachment] {
        var found: Set<Attachment> = []
        var ofTargets: [Attachment] = []
        for entry in try File.exists(folder) ? Directory.list(folder) : []
        where entry.hasSuffix(".d") {
            guard let unit = UnitName(String(entry.dropLast(2))),
                try isDirectory("\(folder)/\(entry)")
            else { continue }
            for name in try names(in: "\(folder)/\(entry)") {
                if let target = GateTarget(unit) {
                    guard let unit = UnitName(name) else { continue }
                    var attachment = Attachment(target: target, unit: unit)
                    attachment.folder = folder
                    ofTargets.append(attachment)
                } else if let service = ServiceName(name),
                    let attachment = try attachment(of: unit, for: service, in: folder)
                {
                    found.insert(attachment)
                }
            }
        }
        let known = Set(found.map { [$0.target.unit, $0.unit] })
        return
            (found + ofTargets.filter { !known.contains([$0.target.unit, $0.unit]) }).sorted()
    }

    /// How a unit is attached to a service; nil if it is not.
    package static func attachment(
        of unit: UnitName, for service: ServiceName
    ) throws(FileError) -> Attachment? {
        for folder in Attachment.folders {
            if let found = try attachment(of: unit, for: service, in: folder) { return found }
        }
        return nil
    }

    private static func attachment(
        of unit: UnitName, for service: ServiceName, in folder: String
    ) throws(FileError) -> Attachment? {
        do {
            let target = GateTarget(service: service, kind: .open)
            var attachment = Attachment(target: target, unit: unit)
            attachment.folder = folder
            let bytes = try File.read(attachment.dropIn, limit: 64 << 10)
            var found = Attachment(of: unit, in: String(decoding: bytes, as: UTF8.self))
            found?.folder = folder
            return found
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

    /// Whom the drop-ins in a folder are for. A folder may be closed to this user.
    private static func names(in folder: String) throws(FileError) -> [String] {
        let names: [String]
        do { names = try Directory.list(folder) } catch  where error.isPermissionDenied {
            return []
        }
        return names.compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(".conf") else { return nil }
            return String(name.dropFirst(prefix.count).dropLast(".conf".count))
        }
    }

    private static let prefix = "50-killswitch-"
}

extension FileError {
    fileprivate var isNoFile: Bool { code == EISDIR || cause == .notRegularFile }
}
