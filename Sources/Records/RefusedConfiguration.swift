package import Files

extension RuntimeDirectory {
    /// Notes that the configuration on disk is refused, and why; nil takes the note away. Readers
    /// without a way to ask the daemon learn it there.
    package func note(refusal: String?) throws(FileError) {
        let file = "\(path)/\(FileName.refusedConfiguration)"
        guard let refusal else { return try File.remove(file) }
        try File.replace(file, with: Array((refusal + "\n").utf8))
    }

    /// Why the configuration on disk is not in force, as it was noted in the directory at `path`.
    package static func refusal(in path: String) throws(FileError) -> String? {
        do {
            let file = "\(path)/\(FileName.refusedConfiguration)"
            let bytes = try File.read(file, limit: 1 << 20)
            return String(decoding: bytes.dropLast(), as: UTF8.self)
        } catch  where error.isNotFound {
            return nil
        }
    }
}
