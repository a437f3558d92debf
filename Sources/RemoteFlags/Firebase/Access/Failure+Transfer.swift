import Decision
import Transfer

extension HTTPRequest {
    /// Sends what goes by plain http to the host itself: that is allowed for this machine and its
    /// metadata server alone, and a proxy is neither.
    mutating func keepOnThisMachine() {
        isDirect = WebAddress(url)?.scheme == "http"
    }
}

extension Failure {
    /// Nothing came of what was tried. A fetch has one time limit for all of its requests: that is
    /// named, for what was left of it is another each time, and a repeat would not be known as one.
    init(_ deed: String, _ error: TransferError, of limit: Duration) {
        let cause = if case .timedOut = error { TransferError.timedOut(limit) } else { error }
        self.init(.unreachable, "\(deed): \(cause)")
    }
}
