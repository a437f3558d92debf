import CRE2
import Signing

/// Regular expressions by RE2, whose syntax the console of the service promises. Swift's own regular
/// expressions backtrack without limit: twenty letters took sixty seconds.
enum RegularExpression {
    /// The memory limit of an expression in bytes, compiled and in a search: far more than the 250
    /// characters that the console allows need.
    private static let memoryLimit: Int64 = 1 << 18

    /// Looks for a match anywhere in a text, in at most so many steps.
    static func search(_ pattern: String, in text: String, within steps: Int64) -> Search {
        var error = [CChar](repeating: 0, count: 256)
        var steps = steps
        let result = unsafe cre2_search(
            pattern, pattern.utf8.count, text, text.utf8.count, memoryLimit, &steps, &error,
            error.count)
        switch result {
        case .found: return Search(result: .found, steps: steps)
        case .missing: return Search(result: .notFound, steps: steps)
        case .too_costly: return Search(result: .tooCostly, steps: steps)
        case .refused:
            let cause = error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return Search(result: .refused(String(decoding: cause, as: UTF8.self)), steps: steps)
        }
    }
}

extension Tools {
    /// The functions of RE2 and libcrypto.
    package static var real: Tools {
        Tools(digest: SHA256.digest(of:), search: RegularExpression.search(_:in:within:))
    }
}
