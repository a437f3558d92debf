package import Decision
package import EventLoop
import Files
package import SourceKinds
package import Transfer

/// Flags in a document that a server holds: one conditional GET for each fetch, over a connection
/// that is kept.
package final class HTTPSource: FlagSource {
    package let name: SourceName
    private let site: Site
    private let bearings: Bearings
    private let place: Binding
    private let loop: EventLoop
    private let client: HTTPClient
    private let deliver: Deliver
    private var exchange: Exchange?
    /// What is asked, by the credentials as they were last read.
    private var inquiry: Inquiry?
    /// What the newest good answer is bound to: its validators are sent under no other binding.
    private var answered: String?

    package init(
        name: SourceName, site: Site, bearings: Bearings, client: HTTPClient, loop: EventLoop,
        deliver: @escaping Deliver
    ) {
        self.name = name
        self.site = site
        self.bearings = bearings
        self.client = client
        self.loop = loop
        self.deliver = deliver
        place = Binding(to: site)
        // What is restored from an earlier run came by these credentials, or is asked for anew.
        if case .success(let inquiry) = Result(catching: prepare) { answered = inquiry.binding }
    }

    deinit { exchange?.cancel() }

    package var binding: String { answered ?? inquiry?.binding ?? place.text(nil) }

    /// Where the credentials cannot be read, that they are others cannot be said either.
    package func isBound(by stored: String) -> Bool {
        answered.map { $0.utf8.elementsEqual(stored.utf8) } ?? place.covers(stored)
    }

    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        exchange?.cancel()
        do {
            let inquiry = try prepare()
            let isBound = answered == inquiry.binding
            let request = inquiry.request(unlessMatching: isBound ? validators : Validators())
            let isConditional =
                request.request.headers.count > inquiry.plain.headers.count
            let exchange = try exchange ?? Exchange(client)
            self.exchange = exchange
            try exchange.send(request) { [unowned self] result in
                end(result, inquiry.binding, isConditional)
            }
        } catch {
            fail("\(error)")
        }
    }

    package func stop() {
        exchange?.cancel()
        exchange = nil
    }

    private func end(
        _ result: Result<HTTPResponse, TransferError>, _ binding: String, _ isConditional: Bool
    ) {
        switch result {
        case .failure(let error):
            fail("get '\(site.shownURL)': \(error)")
        case .success(let response):
            let now = loop.now.wall
            let outcome = response.outcome(of: site, isConditional: isConditional, now: now)
            switch outcome {
            case .answer, .unchanged:
                answered = binding
                deliver(.fetched(name, outcome, date: response.date(now: now)))
            case .failure:
                deliver(.fetched(name, outcome))
            }
        }
    }

    private func fail(_ clause: String) {
        deliver(.fetched(name, .failure(Failure(.unreachable, clause))))
    }

    /// Credentials are read each time, since they are replaced in place; what is asked is made anew
    /// only where they changed.
    private func prepare() throws -> Inquiry {
        if let inquiry, !site.namesSecrets { return inquiry }
        let secrets = try Secrets(of: site, bearings)
        if let inquiry, inquiry.secrets == secrets { return inquiry }
        let made = Inquiry(
            secrets: secrets, binding: place.text(secrets),
            plain: site.request(with: secrets, agent: bearings.agent))
        inquiry = made
        return made
    }
}
