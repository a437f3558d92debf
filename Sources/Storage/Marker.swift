import Decision
import Files

/// The file `open` or `closed`, for `ConditionPathExists=`: renamed from one to the other, missing while undecided.
struct Marker {
    let folder: String

    /// Gives the marker the name of this gate; nil removes it.
    func set(_ gate: Gate?) throws(FileError) {
        guard let gate else {
            for name in Gate.allCases { try File.remove(path(name)) }
            return
        }
        let other: Gate = gate == .open ? .closed : .open
        do {
            try File.rename(path(other), to: path(gate))
        } catch  where error.isNotFound {
            if try !File.exists(path(gate)) { try File.replace(path(gate), with: []) }
        }
    }

    /// The gate by the marker; nil without one, or if this user may not see it. If both exist, closed wins.
    var gate: Gate? {
        [Gate.closed, .open].first { gate in readable { try File.exists(path(gate)) } ?? false }
    }

    private func path(_ gate: Gate) -> String { "\(folder)/\(gate.rawValue)" }
}
