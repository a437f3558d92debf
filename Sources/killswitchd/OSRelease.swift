import Files

/// The fields of os-release(5) that identify the system.
struct OSRelease {
    private var fields: [String: String] = [:]

    /// Reads lines `NAME=value`, the value in quotes or not. Of what is quoted in the way of a shell, only
    /// the quotes around it are understood: no identifier holds more.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            guard let sign = line.firstIndex(of: "=") else { continue }
            var value = line[line.index(after: sign)...]
            for quote in ["\"", "'"] where value.count > 1 && value.hasPrefix(quote) {
                guard value.hasSuffix(quote) else { continue }
                value = value.dropFirst().dropLast()
            }
            fields[String(line[..<sign])] = String(value)
        }
    }

    subscript(_ name: String) -> String? { fields[name] }

    /// Nothing where the system has no such file.
    static var ofThisSystem: OSRelease {
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            guard
                case .success(let bytes) = Result(catching: { try File.read(path, limit: 64 << 10) }
                )
            else { continue }
            return OSRelease(String(decoding: bytes, as: UTF8.self))
        }
        return OSRelease("")
    }
}
