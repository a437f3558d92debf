import Decision
import Files
import Glibc

/// `/etc/systemd/system`: where attachments are written, and found again.
struct UnitDirectory {
    let path: String

    static let system = UnitDirectory(path: "/etc/systemd/system")

    /// Where the drop-in of a unit for a service is. One for each service: a unit that is attached to
    /// another state of the same service is attached to that one instead.
    func dropIn(of unit: UnitName, for service: ServiceName) -> String {
        "\(folder(of: unit))/\(Self.prefix)\(service).conf"
    }

    /// The link that makes a target start a unit.
    func link(from target: GateTarget, to unit: UnitName) -> String {
        "\(path)/\(target.unit?.text ?? "").wants/\(unit)"
    }

    /// Every unit that is attached by a drop-in of ours, by service and name. In an image that is being
    /// made there may be no directory yet.
    func attachments() throws(FileError) -> [Attachment] {
        var found: [Attachment] = []
        for entry in try File.exists(path) ? Directory.list(path) : [] where entry.hasSuffix(".d") {
            guard let unit = UnitName(String(entry.dropLast(2))),
                try isDirectory("\(path)/\(entry)")
            else { continue }
            for service in try services(in: "\(path)/\(entry)") {
                guard let target = try target(of: unit, for: service) else { continue }
                found.append(Attachment(target: target, unit: unit))
            }
        }
        return found.sorted { ($0.target, $0.unit) < ($1.target, $1.unit) }
    }

    /// What a unit is attached to for a service; nil where it is not.
    func target(of unit: UnitName, for service: ServiceName) throws(FileError) -> GateTarget? {
        do {
            let bytes = try File.read(dropIn(of: unit, for: service), limit: 64 << 10)
            return Attachment.target(in: String(decoding: bytes, as: UTF8.self))
        } catch  where error.isNotFound || error.isNoFile {
            return nil
        }
    }

    /// Whether systemd would look there for drop-ins. A link that leads nowhere or in a circle, and a file
    /// by such a name, are passed over as systemd does.
    private func isDirectory(_ path: String) throws(FileError) -> Bool {
        do {
            return try File.attributes(of: path).kind == .directory
        } catch  where error.isNotFound || error.code == ELOOP {
            return false
        }
    }

    /// Writes an attachment over the one that there is for the service. Nothing changes where it is
    /// there already. `file` is where the link leads; nil is no link.
    func write(
        _ attachment: Attachment, startedFrom file: String?, cause: String
    ) throws(FileError) {
        let (unit, service) = (attachment.unit, attachment.service)
        if let before = try target(of: unit, for: service), before != attachment.target {
            try File.remove(link(from: before, to: unit))
            try removeIfEmpty(wants(before))
        }
        try Directory.create(folder(of: unit))
        try File.replace(
            dropIn(of: unit, for: service), with: Array(attachment.dropIn(cause).utf8),
            surviving: .powerLoss)
        let link = link(from: attachment.target, to: unit)
        if let file {
            try Directory.create(wants(attachment.target))
            try SymbolicLink.replace(link, to: file)
        } else {
            try File.remove(link)
        }
    }

    /// Removes an attachment, and the folders that nothing else is in.
    func remove(_ attachment: Attachment) throws(FileError) {
        try File.remove(link(from: attachment.target, to: attachment.unit))
        try File.remove(dropIn(of: attachment.unit, for: attachment.service))
        for folder in [wants(attachment.target), folder(of: attachment.unit)] {
            try removeIfEmpty(folder)
        }
    }

    private func removeIfEmpty(_ folder: String) throws(FileError) {
        do {
            if try Directory.list(folder).isEmpty { try Directory.remove(folder) }
        } catch  where error.isNotFound {}
    }

    private func services(in folder: String) throws(FileError) -> [ServiceName] {
        try Directory.list(folder).compactMap { name in
            guard name.hasPrefix(Self.prefix), name.hasSuffix(".conf") else { return nil }
            return ServiceName(String(name.dropFirst(Self.prefix.count).dropLast(".conf".count)))
        }
    }

    private func folder(of unit: UnitName) -> String { "\(path)/\(unit).d" }
    private func wants(_ target: GateTarget) -> String {
        "\(path)/\(target.unit?.text ?? "").wants"
    }

    private static let prefix = "50-killswitch-"
}

extension FileError {
    /// Something else than a file has that name.
    fileprivate var isNoFile: Bool { code == EISDIR || cause == .notRegularFile }
}
