import Decision
import Files
import Glibc
import JSON
import Records

/// `/etc/systemd/system`, the directory of the attachments.
enum UnitDirectory {
    private static let path = "/etc/systemd/system"

    /// The path of a unit's drop-in for a service. A unit has one for each service, so that it is attached
    /// to one state of a service at most.
    static func dropIn(of unit: UnitName, for service: ServiceName) -> String {
        "\(folder(of: unit))/\(prefix)\(service).conf"
    }

    /// The path of the link that makes a target start a unit.
    static func link(from target: GateTarget, to unit: UnitName) -> String {
        "\(wants(target))/\(unit)"
    }

    /// The units that `attach` has attached, by service and name. The directory may be missing, in an image
    /// that is being built.
    static func attachments() throws(FileError) -> [Attachment] {
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
    static func attachment(
        of unit: UnitName, for service: ServiceName
    ) throws(FileError) -> Attachment? {
        do {
            let bytes = try File.read(dropIn(of: unit, for: service), limit: 64 << 10)
            return Attachment(of: unit, in: String(decoding: bytes, as: UTF8.self))
        } catch  where error.isNotFound || error.isNoFile {
            return nil
        }
    }

    /// The command that wrote the drop-in of an attachment, by its first line; nil if another program or
    /// person wrote it.
    static func cause(of attachment: Attachment) throws(FileError) -> String? {
        let path = dropIn(of: attachment.unit, for: attachment.service)
        let text = String(decoding: try File.read(path, limit: 64 << 10), as: UTF8.self)
        let first = text.prefix { $0 != "\n" }
        return first.hasPrefix(Attachment.head)
            ? String(first.dropFirst(Attachment.head.count)) : nil
    }

    /// Whether systemd would search the path for drop-ins. Like systemd, it passes over files, and links
    /// that lead nowhere or in a circle.
    private static func isDirectory(_ path: String) throws(FileError) -> Bool {
        do {
            return try File.attributes(of: path).kind == .directory
        } catch  where error.isNotFound || error.code == ELOOP {
            return false
        }
    }

    /// Writes an attachment, in place of another attachment of the same unit and service. `file` is
    /// the target of the link; nil writes none.
    static func write(
        _ attachment: Attachment, startedFrom file: String?, cause: String, title: String
    ) throws(FileError) {
        let (unit, service) = (attachment.unit, attachment.service)
        let before = try Self.attachment(of: unit, for: service)
        if let before, before.target != attachment.target {
            try File.remove(link(from: before.target, to: unit))
            try removeIfEmpty(wants(before.target))
        }
        try Directory.create(folder(of: unit))
        try File.replace(
            dropIn(of: unit, for: service),
            with: Array(attachment.dropIn(cause, title: title).utf8),
            surviving: .powerLoss)
        let link = link(from: attachment.target, to: unit)
        if let file {
            try Directory.create(wants(attachment.target))
            try SymbolicLink.replace(link, to: file)
        } else {
            try File.remove(link)
        }
    }

    /// Removes an attachment, and the folders that are empty then.
    static func remove(_ attachment: Attachment) throws(FileError) {
        try File.remove(link(from: attachment.target, to: attachment.unit))
        try File.remove(dropIn(of: attachment.unit, for: attachment.service))
        try removeIfEmpty(wants(attachment.target))
        try removeIfEmpty(folder(of: attachment.unit))
    }

    private static func removeIfEmpty(_ folder: String) throws(FileError) {
        do {
            if try Directory.list(folder).isEmpty { try Directory.remove(folder) }
        } catch  where error.isNotFound {}
    }

    private static func services(in folder: String) throws(FileError) -> [ServiceName] {
        try Directory.list(folder).compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(".conf") else { return nil }
            return ServiceName(String(name.dropFirst(prefix.count).dropLast(".conf".count)))
        }
    }

    private static func folder(of unit: UnitName) -> String { "\(path)/\(unit).d" }
    private static func wants(_ target: GateTarget) -> String { "\(path)/\(target.name).wants" }

    private static let prefix = "50-killswitch-"
}

extension FileError {
    /// Whether the path exists and is not a file.
    fileprivate var isNoFile: Bool { code == EISDIR || cause == .notRegularFile }
}

/// A unit that `attach` has attached to a service.
struct Attachment: Hashable {
    /// The target that the unit stops with.
    let target: GateTarget
    /// The unit.
    let unit: UnitName
    /// Whether it starts with a closing, while other units still stop, and not after it.
    let isEarly: Bool

    /// The service of the target.
    var service: ServiceName { target.service }

    /// The text of the drop-in, for systemd.unit(5). `cause` is the command that writes it, and `title` the
    /// description of the unit, if that is known.
    func dropIn(_ cause: String, title: String? = nil) -> String {
        let description = title.map { "Description=\(described($0))\n" } ?? ""
        return dropInWithoutTitle(cause) + """
            # If a start is refused, systemctl and the journal show this.
            Documentation=man:killswitchctl(1)
            \(description)
            """
    }

    /// The text in the versions before that.
    func dropInWithoutTitle(_ cause: String) -> String {
        dropInWithoutAssertion(cause) + assertion
    }

    /// The description with the command that says why the unit may not run. An earlier attachment may have added
    /// one.
    private func described(_ title: String) -> String {
        let mark = " (kill switch: "
        var own = ""
        var rest = title[...]
        while let scalar = rest.first, !rest.hasPrefix(mark) {
            // systemd.unit(5) reads % as the start of a specifier.
            own += scalar == "%" ? "%%" : String(scalar)
            rest = rest.dropFirst()
        }
        return "\(own.printable)\(mark)killswitchctl explain \(service))"
    }

    /// The text of the drop-in in the first versions. systemd lets a start by hand replace the stop of the
    /// target, so that `Requisite=` alone does not refuse it while another unit still stops.
    func dropInWithoutAssertion(_ cause: String) -> String {
        """
        \(Self.head)\(cause)
        # "killswitchctl detach \(service) \(unit)" removes it.
        [Unit]
        # It stops with this target, and cannot be started without it.
        Requisite=\(target.name)
        \(isEarly ? Self.early : "After=\(target.name)")

        """
    }

    /// In the place of the order. The target is active when the units of the open gate have stopped.
    private static let early =
        "# No After=: it starts while the units of the open gate still stop, and stops while they start."

    /// Empty for the states of a closed gate, whose units run while the marker says closed. `Requisite=` refuses
    /// no start by hand without `After=`, so that an early unit needs the marker instead.
    private var assertion: String {
        let marker = "\(Directories.system)/\(service)/\(Gate.closed.rawValue)"
        return switch target.kind {
        case _ where isEarly:
            """
            # No start is accepted while the service is open.
            AssertPathExists=\(marker)

            """
        case .open, .countdown:
            """
            # No start is accepted from the moment the service is closed, also while other units still stop.
            # Without the daemon: "killswitchctl unlock \(service)".
            AssertPathExists=!\(marker)

            """
        case .closed, .updateRequired, .maintenance, .ended, .variant: ""
        }
    }

    /// The start of every drop-in of `attach`.
    static let head = "# Written by: "

    /// The attachment that a drop-in of a unit describes; nil if it names no target.
    init?(of unit: UnitName, in dropIn: String) {
        let lines = dropIn.split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("Requisite=") }),
            let target = UnitName(String(line.dropFirst("Requisite=".count))).flatMap({
                GateTarget($0)
            })
        else { return nil }
        self.init(
            target: target, unit: unit, isEarly: !lines.contains { $0.hasPrefix("After=") })
    }

    /// The attachment of a unit to a target.
    init(target: GateTarget, unit: UnitName, isEarly: Bool = false) {
        self.target = target
        self.unit = unit
        self.isEarly = isEarly
    }
}

extension GateTarget {
    /// The name of the target's unit.
    var name: String { unit?.text ?? "" }
}

/// The targets of a service that units can be attached to: the open gate, or one of the states.
enum AttachmentPoint: String, CaseIterable {
    case open
    case countdown
    case updateRequired = "update-required"
    case maintenance
    case ended

    /// The point of a target to which a unit is attached.
    init(_ target: GateTarget) {
        self =
            switch target.kind {
            case .open, .closed, .variant: .open
            case .countdown: .countdown
            case .updateRequired: .updateRequired
            case .maintenance: .maintenance
            case .ended: .ended
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
            }
        return GateTarget(service: service, kind: kind)
    }

    /// Whether its units run behind a closed gate, so that they can start while others still stop.
    var isOfClosedGate: Bool {
        switch self {
        case .open, .countdown: false
        case .updateRequired, .maintenance, .ended: true
        }
    }
}
