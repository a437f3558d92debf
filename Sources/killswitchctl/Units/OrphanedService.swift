import Decision
import Files
import JSON
import SystemdUnits

/// A service that is not configured, and to which units are attached: nothing moves its gate, and behind a closed one
/// nobody can start them.
struct OrphanedService {
    /// The service.
    let name: ServiceName
    /// The units, by the drop-ins.
    let units: Set<UnitName>

    /// A service that has no files of a daemon. Nil if no unit is attached to it.
    init?(_ name: ServiceName) {
        do {
            units = Set(try AttachmentFiles.all().filter { $0.service == name }.map(\.unit))
        } catch {
            return nil
        }
        guard !units.isEmpty else { return nil }
        self.name = name
    }

    /// What is wrong.
    var problem: ProblemLine {
        ProblemLine(.service(name), .unitsOrphaned, Problem.orphans(units))
    }

    /// What `explain` says of it.
    var explanation: String {
        var lines = LabelledLines()
        lines.add("verdict", "none: '\(name)' is not configured")
        lines.add("problem", problem.object.text("text"))
        lines.add("  to do", problem.advice)
        for (index, unit) in units.sorted().enumerated() {
            lines.add(index == 0 ? "units" : "", unit.text)
        }
        return lines.text
    }

    /// The same for programs.
    var json: JSON.Value {
        .object([
            "service": .string(name.text), "verdict": .null,
            "units": .array(units.sorted().map { .object(["name": .string($0.text)]) }),
            "problems": .array([.object(problem.object)]),
        ])
    }
}
