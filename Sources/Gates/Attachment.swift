package import Decision

/// A unit as the configuration lists it for a service: to what it is attached, and how.
package struct ConfiguredUnit: Hashable, Sendable {
    package let name: UnitName
    /// The open gate, a state, or notices.
    package var kind = GateTarget.Kind.open
    /// Whether it starts with a closing, while other units still stop, and not after it.
    package var isEarly = false
    /// Whether the gate starts it although it is a oneshot service.
    package var runsAtOpen = false
    /// Whether it is attached although this host may need it.
    package var isAllowed = false
    /// Whether it is disabled while it is attached, so that nothing else starts it.
    package var isOnlyByGate = false

    package init(_ name: UnitName) { self.name = name }

    package func attachment(to service: ServiceName) -> Attachment {
        Attachment(
            target: GateTarget(service: service, kind: kind), unit: name, isEarly: isEarly)
    }
}

/// A unit that is attached to a target of a service, by a drop-in of each.
package struct Attachment: Hashable, Sendable {
    /// The target that the unit stops with.
    package let target: GateTarget
    package let unit: UnitName
    /// Whether it starts with a closing, while other units still stop, and not after it.
    package let isEarly: Bool
    /// Whether it was enabled, and is not as long as it is attached.
    package var isDisabled = false
    /// Which of `folders` its drop-ins are in.
    package var folder = Self.folders[0]

    package init(target: GateTarget, unit: UnitName, isEarly: Bool = false) {
        self.target = target
        self.unit = unit
        self.isEarly = isEarly
    }

    package var service: ServiceName { target.service }

    /// The service whose marker `open` this file is; nil for another file.
    package static func service(ofMarker path: String) -> ServiceName? {
        let (folder, name) = ("/run/killswitchd/", "/open")
        guard path.hasPrefix(folder), path.hasSuffix(name),
            path.utf8.count > folder.utf8.count + name.utf8.count
        else { return nil }
        return ServiceName(String(path.dropFirst(folder.count).dropLast(name.count)))
    }

    /// Where systemd reads the drop-ins: the second where the first cannot be written.
    package static let folders = ["/etc/systemd/system", "/run/systemd/system"]

    /// The path of the drop-in of the unit for the service: one, so that it is attached to one state at most.
    package var dropIn: String { "\(folder)/\(unit).d/50-killswitch-\(service).conf" }

    /// The path of the drop-in of the target for the unit: the target stops it also if the unit's own is not read.
    package var targetDropIn: String {
        "\(folder)/\(target.unit?.text ?? "").d/50-killswitch-\(unit).conf"
    }
}

extension Attachment: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.target, left.unit) < (right.target, right.unit)
    }
}

extension GateTarget.Kind {
    /// The kind of this word, if units can be attached to it.
    package init?(attachable word: String) {
        guard let kind = Self.fixed.first(where: { $0.word == word }), kind != .closed else {
            return nil
        }
        self = kind
    }

    /// The kind of this word, if its units are started for news.
    package init?(hook word: String) {
        guard let kind = Self.fixed.first(where: { $0.word == word }), kind.isHook else {
            return nil
        }
        self = kind
    }

    /// Whether its units run behind a closed gate, so that they can start while others still stop.
    package var isOfClosedGate: Bool { [.updateRequired, .maintenance, .ended].contains(self) }
}
