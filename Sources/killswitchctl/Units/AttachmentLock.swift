import CivilTime
import EventLoop
import Files
import Gates
import SystemdUnits

/// Excludes other runs of `attach` and `detach`: one that has read the lists before another has written them would take
/// back what that one has attached.
enum AttachmentLock {
    /// Takes the lock for this command, and waits for another run. Nil where systemd does not run: nobody else does.
    static func acquire(for command: String) throws -> FileLock? {
        try requireRoot(command)
        guard try BlockingSystemdClient.isNeeded else { return nil }
        try Directory.create(AttachmentOutcome.folder)
        let loop = try EventLoop()
        let deadline = loop.now.boot + .seconds(60)
        var isReported = false
        while true {
            do throws(FileError) {
                return try FileLock(in: AttachmentOutcome.folder)
            } catch {
                guard case .lockedBy = error.cause, loop.now.boot < deadline else { throw error }
                if !isReported, loop.now.boot > deadline - .seconds(59) {
                    printError("waiting for another run: \(error)")
                    isReported = true
                }
                try loop.runOnce(.milliseconds(50))
            }
        }
    }
}
