package import Decision
package import Files

/// A file whose first line is the installed version of a service's software.
package enum VersionFile {
    /// The version; nil if the file is missing or blank, as in the middle of an upgrade.
    package static func version(in path: String) throws(FileError) -> Version? {
        try File.ifThere(File.read(path, limit: sizeLimit))
            .flatMap { Version(String(decoding: $0, as: UTF8.self)) }
    }

    private static let sizeLimit = 64 << 10
}
