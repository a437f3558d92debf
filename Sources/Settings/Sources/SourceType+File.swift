extension SourceType {
    /// A file on this host. Its path is absolute, or begins in the folder of the configuration file
    /// that names it.
    static let file = SourceType(
        word: "file", keys: FileKey.words,
        read: { reader, report in
            let namedIn = reader.member(FileKey.path)?.node.origin.file ?? ""
            let path = reader.required(
                FileKey.path, .path(namedIn: namedIn), because: ", which type 'file' needs",
                &report)
            return path.map { .file(path: $0) }
        },
        schemes: ["file"],
        members: { address throws(ValueProblem) in
            // RFC 8089: after two slashes comes a host, which we do not have.
            guard !address.rest.hasPrefix("//") || address.rest.hasPrefix("///") else {
                throw .bad("address", cause: "write 'file:/PATH' or 'file:PATH'")
            }
            return [(FileKey.path.rawValue, .string(address.rest))]
        })
}

extension ValueType where Value == String {
    /// A path, made absolute by the folder of the file that names it, less empty and `.` parts. `..`
    /// stays, because what it means depends on symbolic links.
    static func path(namedIn file: String) -> Self {
        Self(expected: "a path") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard !text.isEmpty else { throw .bad("path", cause: "it is empty") }
            guard !text.utf8.contains(0) else { throw .bad("path", cause: "it holds a NUL") }
            return resolve(text, namedIn: file)
        } write: {
            $0.tomlText
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
