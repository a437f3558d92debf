import Decision

/// The versions of a template: those that came and those that a stream announces. Remote Config numbers
/// what is published; each number is higher than the one before, also after a rollback.
struct TemplateVersions {
    /// The newest version that came since the start.
    private(set) var newest: Int64?
    /// The newest version that was announced and has not come.
    private var announced: Int64?
    private var attempts = 0

    /// How often the service is asked for a version that it has announced and does not give yet.
    private static let attemptLimit = 3

    /// Takes in the version of an answer. A lower one comes from a server that lags behind, or is an old
    /// answer played back: it is refused, so that flags do not go back and forth.
    mutating func take(_ text: String?) throws(Failure) {
        guard let number = text.flatMap({ Int64($0) }) else { return }
        if let newest, number < newest {
            throw Failure(
                .invalid,
                "version \(number) of the template is older than \(newest), which was seen")
        }
        newest = number
    }

    /// Takes in that a version exists. Whether it is newer than the newest that came.
    mutating func announce(_ version: Int64) -> Bool {
        guard version > newest ?? -1 else { return false }
        if version > announced ?? -1 {
            announced = version
            attempts = 0
        }
        return true
    }

    /// Whether to fetch again soon, after a fetch that succeeded: the service may announce a version
    /// before it gives it.
    mutating func needFetch() -> Bool {
        guard let announced, announced > newest ?? -1, attempts < Self.attemptLimit else {
            self.announced = nil
            return false
        }
        attempts += 1
        return true
    }
}
