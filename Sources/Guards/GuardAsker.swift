package import Decision
import Fleet
package import HTTP
package import Requests
package import SourceSettings

/// Asks guards over HTTP. A question ends inside the time limit of its guard with exactly one answer. Nothing but a
/// good answer passes: an error, silence, a redirect or a page of a proxy holds the step, and says why.
package final class GuardAsker {
    private let environment: HostEnvironment
    private let client: () throws -> HTTPClient
    private let answered: (GuardName, GuardAnswer) -> Void
    /// The guards that it knows.
    package private(set) var guards: [GuardName: GuardSettings] = [:]
    private var transfers: [GuardName: HTTPTransfer] = [:]

    /// An asker that knows no guard. `client` is made when the first question is asked. `answered` may be called from
    /// within `ask`.
    package init(
        _ environment: HostEnvironment, client: @escaping () throws -> HTTPClient,
        answered: @escaping (GuardName, GuardAnswer) -> Void
    ) {
        self.environment = environment
        self.client = client
        self.answered = answered
    }

    deinit { cancel() }

    /// Knows these guards from now on. Questions in flight end without an answer: they may not be those of today.
    package func configure(_ guards: [GuardName: GuardSettings]) {
        cancel()
        self.guards = guards
    }

    /// Asks a guard; a question of before that is in flight ends without an answer.
    package func ask(_ name: GuardName) {
        transfers.removeValue(forKey: name)?.cancel()
        guard let settings = guards[name] else {
            return answered(name, .holds("it is not configured any more"))
        }
        do {
            // Files of credentials may have been replaced. Questions are half a minute apart: no connection is kept.
            let transfer = try HTTPTransfer(client(), usesOwnConnection: true)
            let request = PreparedRequest(try settings.request(in: environment))
            transfers[name] = transfer
            try transfer.send(request) { [unowned self] result in
                transfers[name] = nil
                answered(name, settings.question.answer(to: result))
            }
        } catch {
            transfers[name] = nil
            answered(name, .holds("it cannot be asked: \(error)"))
        }
    }

    private func cancel() {
        for transfer in transfers.values { transfer.cancel() }
        transfers = [:]
    }
}

extension GuardSettings {
    /// How much of the body of an error is read: the API of Prometheus names the mistake in a query.
    private static let keptOfRefusal = 4096

    fileprivate func request(in environment: HostEnvironment) throws -> HTTPRequest {
        var request = try server.request(in: environment)
        request.isDirect = WebAddress(server.url)?.host.isLoopbackHost ?? false
        // A login page must not pass for the document.
        request.followsRedirects = false
        if case .query(let query) = question {
            let limit = max(1, server.limits.timeout.components.seconds)
            request.url += "/api/v1/query"
            request.headers.append(Header("Content-Type", "application/x-www-form-urlencoded"))
            request.body = Array("query=\(query.formEncoded)&timeout=\(limit)s".utf8)
            request.keptOfRefusal = Self.keptOfRefusal
        }
        return request
    }
}

extension GuardSettings.Question {
    /// What the end of a request means.
    fileprivate func answer(to result: Result<HTTPResponse, TransferError>) -> GuardAnswer {
        switch (self, result) {
        case (_, .failure(let error)): .holds("\(error)")
        case (.status, .success(let response)):
            switch response.status {
            case 200, 204: .passes
            case 300...399:
                .holds("it redirects (\(response.status)), which is not followed; correct the URL")
            default: .holds("it answers \(response.statusText)")
            }
        case (.query, .success(let response)) where response.status == 200:
            GuardAnswer(prometheus: response.body)
        case (.query, .success(let response)):
            .holds(
                PrometheusAnswer.refusal(status: response.status, body: response.body).description)
        }
    }
}
