import CivilTime
import Decision
import EventLoop
import Files
import Gates
import JSON
import Storage

/// Waits until the daemon's files show what `attach` and `detach` have changed, so that whatever is typed next finds it
/// there. A reply to an order comes after the files, too.
struct ShownUnits {
    let published: PublishedFiles
    let attachments: [Attachment]
    /// Whether they are attached, or detached.
    let areAttached: Bool

    private static let timeLimit: Duration = .seconds(5)

    /// Waits for at most five seconds, and then names what is not shown. Where no daemon moves the gate of a service,
    /// or has decided about it, nobody would show anything.
    func wait(on loop: EventLoop) throws {
        let services = Set(attachments.map(\.service)).sorted()
        let stream = try PublishedStream(of: services, in: published, on: loop)
        var missing: Attachment?
        let areShown: Void? = try stream.until(
            Self.timeLimit,
            progress: { "waiting for killswitchd … \(stream.elapsed.wholeSeconds) s" }
        ) {
            missing = firstNotShown(at: loop.now.wall)
            return missing == nil ? () : nil
        }
        guard areShown == nil, let missing else { return }
        let (unit, service) = (missing.unit, missing.service)
        printError(
            areAttached
                ? "killswitchd does not show '\(unit)' among the units of '\(service)' yet; see "
                    + "'killswitchctl units'"
                : "killswitchd still shows '\(unit)' among the units of '\(service)'; see "
                    + "'killswitchctl units'")
    }

    /// The change is made by now: a file that cannot be read is no reason to fail, and is not waited for.
    private func firstNotShown(at time: Instant) -> Attachment? {
        for (service, attachments) in Dictionary(grouping: attachments, by: \.service) {
            guard let state = readable({ try published.state(of: service) }) ?? nil,
                state.gate != nil, published.isCurrent(state, at: time),
                published.gate(of: service) != nil,
                let rows = readable({ try published.units(of: service) })
            else { continue }
            // One that is attached is shown once it is known how it stands.
            let shown = rows.filter { row in
                !areAttached || row["attached"]?.bool != false && !row.text("active").isEmpty
            }
            let names = Set(shown.map { $0.text("name") })
            let missing = attachments.first { names.contains($0.unit.text) != areAttached }
            if let missing { return missing }
        }
        return nil
    }
}
