import CRE2
import Signing

/// Regular expressions by RE2, whose syntax the console of the service promises. Swift's own regular
/// expressions backtrack without limit: twenty letters took sixty seconds.
enum RegularExpression {
    /// The memory limit of an expression in bytes, compiled and in a search: far more than the 250
    /// characters that the console allows need.
    private static let memoryLimit: Int64 = 1 << 20

    /// Looks for a match anywhere in a text.
    static func search(_ pattern: String, in text: String) -> SearchResult {
        var error = [CChar](repeating: 0, count: 256)
        let (pattern, text) = (pattern.utf8CString, text.utf8CString)
        let result = unsafe pattern.withUnsafeBufferPointer { pattern in
            unsafe text.withUnsafeBufferPointer { text in
                unsafe search(pattern, text, &error)
            }
        }
        switch result {
        case .found: return .found
        case .missing: return .notFound
        case .refused:
            let cause = error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return .refused(String(decoding: cause, as: UTF8.self))
        }
    }

    /// Both buffers end in a NUL that does not count.
    private static func search(
        _ pattern: UnsafeBufferPointer<CChar>, _ text: UnsafeBufferPointer<CChar>,
        _ error: inout [CChar]
    ) -> cre2_result {
        guard let expression = pattern.baseAddress, let place = text.baseAddress else {
            return .refused
        }
        return unsafe cre2_search(
            expression, pattern.count - 1, place, text.count - 1, memoryLimit, &error, error.count)
    }
}

extension Tools {
    /// The functions of RE2 and libcrypto.
    package static var real: Tools {
        Tools(digest: SHA256.digest(of:), search: RegularExpression.search(_:in:))
    }
}
