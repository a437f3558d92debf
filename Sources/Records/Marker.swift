import Decision
import Files

/// The file `open` or `closed`, for `ConditionPathExists=` and the like: one file that is renamed
/// from the one name to the other, and is neither while the service is undecided.
struct Marker {
    let folder: String

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

    /// What the marker says; nil where there is none, or none that we may see. Of two that are there by
    /// somebody else's hand, the one that closes.
    var gate: Gate? {
        [Gate.closed, .open].first { gate in
            do { return try File.exists(path(gate)) } catch { return false }
        }
    }

    private func path(_ gate: Gate) -> String { "\(folder)/\(gate.rawValue)" }
}
