package import CivilTime
package import Decision
import Files
package import HTTP
package import Requests
package import SourceSettings

/// Sends documents to a site by POST, with the certificates and credentials that it names. One is in flight at
/// most, on a connection that is closed after the answer: documents are minutes apart.
package final class DocumentSink {
    /// Receives why the server has not taken the document; nil if it has.
    package typealias Completion = (Failure?) -> Void

    package let settings: HTTPSettings
    private let environment: HostEnvironment
    private let client: HTTPClient
    private let now: () -> Instant
    private var transfer: HTTPTransfer?

    /// A sink that has sent nothing. `now` is the wall clock.
    package init(
        _ settings: HTTPSettings, _ environment: HostEnvironment, _ client: HTTPClient,
        now: @escaping () -> Instant
    ) {
        self.settings = settings
        self.environment = environment
        self.client = client
        self.now = now
    }

    deinit { transfer?.cancel() }

    /// Sends a document of JSON; it replaces the one in flight. `completion` is called exactly once, inside the time
    /// limit of the site, perhaps from within this call, unless `cancel()` is called or another document is sent.
    package func send(_ document: [UInt8], completion: @escaping Completion) {
        cancel()
        do {
            // Their files may have been replaced.
            var request = try settings.request(in: environment)
            if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
                request.headers.append(Header("Content-Type", "application/json"))
            }
            request.body = document
            let transfer = try HTTPTransfer(client, usesOwnConnection: true)
            self.transfer = transfer
            try transfer.send(PreparedRequest(request)) { [unowned self] result in
                self.transfer = nil
                completion(failure(result))
            }
        } catch {
            transfer = nil
            completion(failed("\(error)"))
        }
    }

    /// Ends the document in flight; its completion is not called.
    package func cancel() {
        transfer?.cancel()
        transfer = nil
    }

    private var operation: String { "post to '\(settings.shownURL)'" }

    private func failed(_ cause: String) -> Failure {
        Failure(.unreachable, "\(operation): \(cause)")
    }

    private func failure(_ result: Result<HTTPResponse, TransferError>) -> Failure? {
        switch result {
        case .failure(let error): failed("\(error)")
        case .success(let response) where (200...299).contains(response.status): nil
        // A GET in its place would deliver nothing, and another address was not configured.
        case .success(let response) where (300...399).contains(response.status):
            failed(
                "the server redirects (\(response.status)), and killswitchd does not follow; correct "
                    + "the URL")
        case .success(let response): response.refusal(of: operation, now: now())
        }
    }
}
