import Glibc

/// What a name in a directory stands for.
enum PathEntry {
    case nothing
    case directory
    case link(target: String)
    /// Anything else: a regular file, a FIFO, a device.
    case file

    /// Looks without following a link at the end.
    ///
    /// A link whose target is not UTF-8 is the error `EILSEQ`: paths come from settings, which are
    /// UTF-8, and nothing here could name what it leads to.
    init(at path: String) throws(LoopError) {
        var status = stat()
        switch negatedError(unsafe lstat(path, &status)) {
        case 0: break
        case -ENOENT, -ENOTDIR:
            self = .nothing
            return
        case let failure: throw LoopError("examine '\(path)'", code: -failure)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: self = .directory
        case S_IFLNK: self = try Self.link(at: path)
        default: self = .file
        }
    }

    /// A link that is none any more has been replaced since it was looked at.
    private static func link(at path: String) throws(LoopError) -> Self {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        guard count >= 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR || code == EINVAL { return .nothing }
            throw LoopError("read link '\(path)'", code: code)
        }
        let bytes = target.prefix(count).lazy.map(UInt8.init(bitPattern:))
        guard let target = String(validating: bytes, as: UTF8.self) else {
            throw LoopError("read link '\(path)'", code: EILSEQ)
        }
        return .link(target: target)
    }
}
