/// The keys of a `[source.NAME]` of type `file`, besides the keys of every type.
enum FileKey: String, SettingKey {
    case path
}

extension SourceType {
    static let file = SourceType(
        word: "file", keys: FileKey.words + SigningKey.words, isSignable: true,
        read: { reader, limits in
            let namedIn = reader.member(FileKey.path)?.node.origin.file ?? ""
            let path = reader.required(FileKey.path, .path(namedIn: namedIn))
            return path.map { .file(path: $0, limits) }
        }, schemes: ["file"],
        members: { address throws(ValueProblem) in
            let path = String(Substring(address.utf8.dropFirst("file:".utf8.count)))
            // RFC 8089: after two slashes comes a host, which a file on this host does not have.
            guard !path.hasPrefix("//") || path.hasPrefix("///") else {
                throw .bad("address", cause: "write 'file:/PATH' or 'file:PATH'")
            }
            return [(FileKey.path.rawValue, .string(path))]
        })
}

extension ValueType where Value == String {
    /// A path. A relative path begins in the folder of `file`, the configuration file that holds it.
    /// Empty and `.` parts are dropped; `..` stays, because its meaning depends on symbolic links.
    static func path(namedIn file: String) -> Self {
        .string(expected: "a path") { text throws(ValueProblem) in
            guard !text.isEmpty else { throw .bad("path", cause: "it is empty") }
            guard !text.utf8.contains(0) else { throw .bad("path", cause: "it holds a NUL") }
            return resolve(text, namedIn: file)
        }
    }
}

private func resolve(_ path: String, namedIn file: String) -> String {
    let slash = UInt8(ascii: "/")
    let isAbsolute = path.utf8.first == slash
    let folder = isAbsolute ? [] : file.utf8.split(separator: slash).dropLast()
    let parts = (folder + path.utf8.split(separator: slash)).map { String(Substring($0)) }
    let root = isAbsolute || file.utf8.first == slash ? "/" : ""
    return root + parts.filter { $0 != "." }.joined(separator: "/")
}
