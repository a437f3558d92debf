import Glibc

/// The text of `strerror(3)`, its first letter in lower case so that it can end a sentence; nil for 0.
func systemText(_ code: Int32) -> String? {
    guard code != 0, let text = unsafe strerror(code) else { return nil }
    let message = unsafe String(cString: text)
    return message.prefix(1).lowercased() + message.dropFirst()
}
