import Files
import Glibc

/// Whether we may read the journal of the system. libsystemd gives what it can, without a word on what
/// it left out.
enum JournalAccess {
    static func check() throws(CommandFailure) {
        let files = try systemFiles()
        let isReadable = files.contains { file in unsafe access(file, R_OK) == 0 }
        guard isReadable else {
            throw CommandFailure(
                .notPermitted,
                "not permitted to read the system's journal; type 'sudo' before the command, or as "
                    + "root 'adduser USER systemd-journal'")
        }
    }

    /// Where journald keeps the entries of the system (systemd-journald.service(8)), as far as they are
    /// there.
    private static func systemFiles() throws(CommandFailure) -> [String] {
        do {
            let machine = try File.read("/etc/machine-id", limit: 64).filter { $0 > 0x20 }
            let name = String(decoding: machine, as: UTF8.self)
            let files = ["/var/log/journal", "/run/log/journal"].map {
                "\($0)/\(name)/system.journal"
            }
            let there = try files.filter { file throws(FileError) in try File.exists(file) }
            guard !there.isEmpty else {
                throw CommandFailure(.no, "there is no journal on this host")
            }
            return there
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as FileError where error.isPermissionDenied {
            return []
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }
}
