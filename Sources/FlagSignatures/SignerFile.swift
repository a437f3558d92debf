package import CivilTime
package import Decision
import Files
package import Signing

/// The file of the people whose signatures count, as ssh-keygen(1) knows it.
package struct SignerFile: Sendable {
    package let path: String
    /// The zone of its local times; nil if the system's cannot be read now.
    private let zone: @Sendable () -> Zone?
    /// The user who may own it beside root; nil is anybody.
    private let user: UInt32?

    /// The file at this path; nothing is read yet.
    package init(path: String, zone: @escaping @Sendable () -> Zone?, user: UInt32?) {
        self.path = path
        self.zone = zone
        self.user = user
    }

    /// Reads the list. A user who may write the file may give orders: it is refused if others may write it.
    package func read() throws(DocumentRefusal) -> AllowedSigners {
        let cause: String
        do {
            let (bytes, attributes) = try File.readWithAttributes(
                path, limit: AllowedSigners.maximumSize)
            if let problem = problem(of: attributes) {
                cause = "read '\(path)': \(problem)"
            } else if let zone = zone() {
                return try AllowedSigners(bytes, zone: zone)
            } else {
                cause = "read '\(path)': the time zone of the system cannot be read"
            }
        } catch let error as AllowedSignersError {
            cause = "read '\(path)': \(error)"
        } catch {
            cause = "\(error)"
        }
        throw DocumentRefusal(
            .signersUnreadable,
            "the list of signers cannot be used, so no new document counts: \(cause)")
    }

    private func problem(of attributes: FileAttributes) -> String? {
        if let user, attributes.owner != user, attributes.owner != 0 {
            return "it belongs to user \(attributes.owner), not to us or root"
        }
        guard attributes.mode & 0o022 != 0 else { return nil }
        return "its mode \(String(attributes.mode, radix: 8)) lets others write it; take that away "
            + "with 'chmod go-w'"
    }
}
