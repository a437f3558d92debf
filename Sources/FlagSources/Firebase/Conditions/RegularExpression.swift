import CRE2
import Signing

extension Tools {
    /// The functions of RE2 and libcrypto. RE2's syntax is what the console of the service promises. Swift's own
    /// regular expressions backtrack without limit: twenty letters took sixty seconds.
    package static var real: Tools {
        Tools(digest: SHA256.digest(of:)) { pattern, text, steps in
            var error = [CChar](repeating: 0, count: 256)
            let result = unsafe cre2_search(
                pattern, pattern.utf8.count, text, text.utf8.count, memoryLimit, &steps, &error,
                error.count)
            switch result {
            case .found: return .found
            case .missing: return .notFound
            case .too_costly: return .tooCostly
            case .refused:
                let cause = error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                return .refused(String(decoding: cause, as: UTF8.self))
            }
        }
    }

    /// The memory limit of an expression in bytes, compiled and in a search: far more than the 250
    /// characters that the console allows need.
    private static let memoryLimit: Int64 = 1 << 18
}
