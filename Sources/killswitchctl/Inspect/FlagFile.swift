import CivilTime
import Decision
import Files
import FlagSignatures
import Glibc
import JSON
import POSIX
import Signing
import SourceSettings
import Storage

/// Flags in a file that an operator names, as a source would bring them.
struct FlagFile {
    private let name: String
    private let body: [UInt8]

    /// Reads the file; `-` is standard input.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : "'\(path.printable(limit: 100))'"
        body = path == "-" ? try Self.standardInput() : try File.read(path, limit: Self.largest)
    }

    /// The flags as an answer. Throws where no host would take them.
    ///
    /// `signers` are those of the source. Without them the signatures are not checked: nobody knows
    /// whose would count.
    func answer(by signers: SignerFile?, fetchedAt: Instant) throws -> Answer {
        do {
            return try readAnswer(by: signers, fetchedAt: fetchedAt)
        } catch let error as Failure {
            throw CommandFailure(.no, "the flags in \(name) are invalid: \(error.detail)")
        }
    }

    private func readAnswer(by signers: SignerFile?, fetchedAt: Instant) throws -> Answer {
        if let signers {
            let list = try orFailure { () throws(DocumentRefusal) in try signers.read() }
            return try SignedFlags.answer(in: body, by: list, at: fetchedAt)
        }
        let content = SignedDocument.content(of: body)
        if content.count < body.count {
            printError("the signatures are not checked: give --service NAME for that")
        }
        return Answer(body: content, flags: try FlagDocument.parse(content), fetchedAt: fetchedAt)
    }

    private func orFailure<Value>(
        _ read: () throws(DocumentRefusal) -> Value
    ) throws(Failure) -> Value {
        do throws(DocumentRefusal) { return try read() } catch { throw Failure(error) }
    }

    /// Everything on standard input.
    private static func standardInput() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= largest {
            let count = unsafe Glibc.read(STDIN_FILENO, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += piece[..<count]
            } else if errno != EINTR {
                throw CommandFailure(.no, "read standard input: \(SystemError.text(of: errno))")
            }
        }
        throw CommandFailure(.no, "read standard input: over the limit of \(largest) bytes")
    }

    /// The limit of `max_body`, in bytes.
    private static let largest = FetchLimits.largestMaxBody
}
