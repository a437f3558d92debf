import CivilTime
import Decision
import EventLoop
import Files
import Gates
import JSON
import Storage

/// Waits until the daemon's files show what `attach` and `detach` have changed, as a reply to an order comes after them:
/// whatever is typed next finds it there.
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
        let watch = try StateFileWatch(services, in: published, on: loop)
        let began = loop.now.boot
        defer { Terminal.showProgress(nil) }
        while let attachment = try attachments.first(where: { try !isShown($0, on: loop) }) {
            let time = loop.now.boot - began
            guard time < Self.timeLimit else {
                let (unit, service) = (attachment.unit, attachment.service)
                return printError(
                    areAttached
                        ? "killswitchd does not show '\(unit)' among the units of '\(service)' yet; see "
                            + "'killswitchctl units'"
                        : "killswitchd still shows '\(unit)' among the units of '\(service)'; see "
                            + "'killswitchctl units'")
            }
            if time > .seconds(1) {
                Terminal.showProgress("waiting for killswitchd … \(time.wholeSeconds) s")
            }
            try watch.wait(atMost: .milliseconds(100))
        }
    }

    private func isShown(_ attachment: Attachment, on loop: EventLoop) throws -> Bool {
        guard let state = readable({ try published.state(of: attachment.service) }) ?? nil,
            state.gate != nil, published.isCurrent(state, at: loop.now.wall),
            published.gate(of: attachment.service) != nil
        else { return true }
        let rows = try published.units(of: attachment.service)
        let row = rows.first { $0.text("name") == attachment.unit.text }
        guard areAttached else { return row == nil }
        return row.map { $0["attached"]?.bool != false && !$0.text("active").isEmpty } ?? false
    }
}
