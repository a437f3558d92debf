import Glibc

/// Why the test could not use the machine it runs on.
struct SystemError: Error, CustomStringConvertible {
    let description: String
}

/// The bytes of a file.
func contents(of path: String) throws -> [UInt8] {
    guard let file = unsafe fopen(path, "rb") else {
        throw SystemError(description: "open '\(path)': \(unsafe String(cString: strerror(errno)))")
    }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = unsafe getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return bytes
}

/// Whether there is a file that may be executed.
func isExecutable(_ path: String) -> Bool {
    unsafe access(path, X_OK) == 0
}

/// Runs a command and passes on each line that it prints, while it runs.
func forEachLine(of command: [String], _ body: (String) throws -> Void) throws {
    let quoted = command.map { argument in
        "'"
            + argument.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
    guard let pipe = unsafe popen(quoted.joined(separator: " "), "r") else {
        throw SystemError(description: "start '\(command[0])': no pipe")
    }
    var buffer: UnsafeMutablePointer<CChar>?
    var capacity = 0
    let outcome = Result {
        while case let length = unsafe getline(&buffer, &capacity, pipe), length > 0 {
            guard let line = unsafe buffer else { break }
            let characters = unsafe UnsafeBufferPointer(start: line, count: length)
            let bytes = unsafe characters.lazy.map { UInt8(bitPattern: $0) }
            try body(unsafe String(decoding: bytes, as: UTF8.self))
        }
    }
    unsafe free(buffer)
    let status = unsafe pclose(pipe)
    try outcome.get()
    guard status == 0 else {
        throw SystemError(description: "run '\(command[0])': wait status \(status)")
    }
}

/// Runs `body` with a temporary folder, and removes it afterwards.
func withTemporaryFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
    var template = Array("/tmp/killswitchd-civil-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
        throw SystemError(description: "make a temporary folder")
    }
    let path = unsafe template.withUnsafeBufferPointer { characters in
        unsafe String(
            decoding: characters.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let outcome = Result { try body(path) }
    try forEachLine(of: ["rm", "-rf", "--", path]) { _ in }
    return try outcome.get()
}
