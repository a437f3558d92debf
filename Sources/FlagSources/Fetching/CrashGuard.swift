import CivilTime
import Decision
import Files
import Signing

/// Marks on disk which large answer is being read, so that an answer that ended the daemon does not end it
/// again at each start: by the watchdog, by its memory, or by a bug.
///
/// The mark stands until each service has decided by the answer, some milliseconds, and only in the runtime
/// directory. So a daemon that ends for another reason rarely leaves one, and a reboot forgets it.
///
/// One end proves nothing: the kernel kills the largest process for the memory of others, and the answer is good. So it
/// is read again at the first poll after the start. After a second end over the same bytes it is
/// read once more ten minutes after the start, and after a third not until its bytes change.
struct CrashGuard {
    /// The file; nil without a runtime directory.
    private let path: String?
    private let startedAt: Boottime
    /// The answer that an earlier process was reading when it ended, and how often the daemon ended so.
    private var suspect: (digest: String, ends: Int)?
    private var isArmed = false

    /// How many bytes an answer has at least that can take so long or so much memory.
    private static let smallest = 64 << 10
    private static let delay: Duration = .seconds(600)
    /// After so many ends an answer is not read any more.
    private static let mostEnds = 3

    /// The mark of a source; reads what an earlier process left.
    init(of source: SourceName, in directory: String?, at now: Boottime) {
        path = directory.map { "\($0)/reading.\(source)" }
        startedAt = now
        guard let path,
            case .success(let bytes) = Result(catching: { try File.read(path, limit: 128) })
        else { return }
        let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let ends = Int(words[1]) else { return }
        suspect = (String(words[0]), max(1, min(ends, Self.mostEnds)))
    }

    /// Sets the mark before an answer is read. Throws for an answer that ended the daemon.
    mutating func arm(for body: [UInt8], at now: Boottime) throws(Failure) {
        guard let path, body.count >= Self.smallest else { return }
        let digest = SHA256.hexadecimal(of: body)
        var ends = 0
        if let suspect, suspect.digest == digest {
            ends = suspect.ends
            guard ends == 1 || ends < Self.mostEnds && now >= startedAt + Self.delay else {
                let end =
                    ends < Self.mostEnds ? "for ten minutes after the start" : "until it changes"
                throw Failure(
                    .invalid,
                    "killswitchd ended unexpectedly \(ends) times while reading this answer "
                        + "(\(body.count) bytes); it skips the answer \(end)")
            }
        }
        do {
            try File.replace(path, with: Array("\(digest) \(ends + 1)\n".utf8), mode: 0o600)
            isArmed = true
        } catch {
            // A full directory must not keep an order from being read.
        }
    }

    /// Removes the mark: the answer was read, and every service has decided by it.
    mutating func disarm() {
        guard isArmed, let path else { return }
        isArmed = false
        suspect = nil
        do { try File.remove(path) } catch {}
    }
}
