import Gates
import Glibc
import JSON
import SystemdUnits

/// `killswitchctl attach --from-configuration`, which a unit of the package runs for the daemon: makes the drop-ins as
/// the configuration lists the units.
enum FollowConfiguration {
    /// Attaches every unit that can be, then throws if there is another. The daemon is told the result, also a failure.
    static func run(_ command: Attach) throws {
        do {
            try perform(command)
        } catch let failure as CommandFailure where failure.message.isEmpty || command.isDryRun {
            throw failure
        } catch {
            // What was wanted before is wanted still.
            var outcome = AttachmentOutcome.read()
            outcome.failure = CommandFailure(error).message
            if geteuid() == 0, try BlockingSystemdClient.isNeeded { try outcome.write() }
            throw error
        }
    }

    private static func perform(_ command: Attach) throws {
        let isDryRun = command.isDryRun
        let lock =
            try isDryRun ? nil : AttachmentLock.acquire(for: "attach --from-configuration")
        defer { withExtendedLifetime(lock) {} }
        let lists = try AttachmentLists()
        guard try BlockingSystemdClient.isNeeded else {
            return printError("systemd does not run here: the units are attached at the next boot")
        }
        let manager = try BlockingSystemdClient()
        let change = try AttachmentChange(lists, manager)
        if !isDryRun { try change.make(manager, reloads: !command.skipsReload) }
        if command.json {
            printJSON(.object(change.report(isDryRun: isDryRun)))
        } else {
            change.show(isDryRun: isDryRun)
        }
        change.warn()
        if !change.problems.isEmpty { throw CommandFailure(.no) }
    }
}

extension AttachmentChange {
    /// Writes what has changed, has systemd read it, and leaves the daemon the result.
    func make(_ manager: BlockingSystemdClient, reloads: Bool) throws {
        // The daemon reads the result when systemd has read its units again.
        var isChanged = false
        try permitted {
            isChanged = try write()
            try outcome.write()
        }
        if reloads, isChanged { try manager.reload() }
    }
}
