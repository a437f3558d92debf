import Decision

/// The versions of a template: the fetched versions and those that a stream announces. Remote
/// Config numbers each publication; each number is higher than the number before, also after a
/// rollback.
struct TemplateVersions {
    /// The newest version that was fetched since the start.
    private(set) var newest: Int64?
    /// The newest version that was announced and not fetched.
    private var announced: Int64?
    private var attempts = 0

    /// How often the service is asked for a version that it has announced and does not serve yet.
    private static let attemptLimit = 3

    /// Records the version of an answer. Throws for a lower version, so that flags do not go back
    /// and forth: it comes from a server that lags behind, or from a replayed answer.
    mutating func take(_ text: String?) throws(Failure) {
        guard let number = text.flatMap({ Int64($0) }) else { return }
        if let newest, number < newest {
            throw Failure(
                .invalid,
                "version \(number) of the template is older than \(newest), which was seen")
        }
        newest = number
    }

    /// Records that a version exists. Returns whether it is newer than every fetched version.
    mutating func announce(_ version: Int64) -> Bool {
        guard version > newest ?? -1 else { return false }
        if version > announced ?? -1 {
            announced = version
            attempts = 0
        }
        return true
    }

    /// Whether to fetch again soon, after a fetch that succeeded: the service may announce a
    /// version before it serves it.
    mutating func needFetch() -> Bool {
        guard let announced, announced > newest ?? -1, attempts < Self.attemptLimit else {
            self.announced = nil
            return false
        }
        attempts += 1
        return true
    }
}
