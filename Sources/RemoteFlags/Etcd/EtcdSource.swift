import CivilTime
package import Decision
package import EventLoop
import Faults
import Files
import JSON
package import SourceKinds
package import Transfer

/// Flags in etcd: all keys with a prefix, read whole at each fetch, and a watch that hints at changes
/// of them from the revision of the last fetch on.
///
/// Each fetch comes to the endpoint that answered last, and to the others where it does not. So does a
/// watch.
package final class EtcdSource: FlagSource {
    package let name: SourceName
    private let cluster: Cluster
    private let interval: Duration
    private let bearings: Bearings
    private let loop: EventLoop
    private let client: HTTPClient
    private let deliver: Deliver
    private var exchange: Exchange?
    private var stream: Stream<WatchParser>?
    private var token: String?
    private var visit: Visit?
    /// What the last fetch found.
    private var last: Snapshot?
    /// Where the watch is.
    private var watched: Int?
    /// The endpoint that the next fetch begins with: any, so that a fleet spreads.
    private var endpoint: Int

    /// A fetch under way.
    private struct Visit {
        let startedAt: Int
        let deadline: Boottime
        var endpointsLeft: Int
        var silent: Set<Int> = []
        var hasLoggedIn = false
        /// How the first endpoint failed.
        var failure: Failure?
    }

    package init(
        name: SourceName, cluster: Cluster, interval: Duration, bearings: Bearings,
        client: HTTPClient, loop: EventLoop, deliver: @escaping Deliver
    ) {
        Invariant.hold(!cluster.endpoints.isEmpty, "an etcd cluster has an endpoint")
        self.name = name
        self.cluster = cluster
        self.interval = interval
        self.bearings = bearings
        self.loop = loop
        self.client = client
        self.deliver = deliver
        endpoint = Int.random(in: cluster.endpoints.indices)
    }

    deinit { exchange?.cancel() }

    package var binding: String { cluster.binding }

    /// The watch begins where the first fetch has ended.
    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        exchange?.cancel()
        visit = Visit(
            startedAt: endpoint, deadline: loop.now.boot + cluster.timeout,
            endpointsLeft: cluster.endpoints.count)
        ask(.range(prefix: cluster.prefix))
    }

    package func stop() {
        exchange?.cancel()
        exchange = nil
        stream = nil
        visit = nil
    }

    /// Asks the endpoint whose turn it is. Each gets an equal share of the time that is left.
    private func ask(_ call: GatewayCall) {
        guard let visit else { return }
        do {
            var request = try request(call, at: endpoint)
            let left = visit.deadline - loop.now.boot
            request.timeout = left / visit.endpointsLeft
            let exchange = try exchange ?? Exchange(client)
            self.exchange = exchange
            try exchange.send(request) { [unowned self] in take($0, to: call) }
        } catch {
            end(Failure(.unreachable, "\(error)"))
        }
    }

    private func request(_ call: GatewayCall, at endpoint: Int) throws(CredentialError)
        -> HTTPRequest
    {
        let secrets = try Secrets(of: cluster.site, bearings)
        var request = cluster.site.request(with: secrets, agent: bearings.agent)
        request.url = cluster.endpoints[endpoint] + call.path
        request.body = call.body
        request.keptOfRefusal = 1024
        request.headers.append(Header("Content-Type", "application/json"))
        request.headers += call.headers
        if let token { request.headers.append(Header("Authorization", token)) }
        return request
    }

    private func take(_ result: Result<HTTPResponse, TransferError>, to call: GatewayCall) {
        do throws(GatewayError) {
            let response: HTTPResponse
            do {
                response = try result.get()
            } catch .timedOut {
                // How long it was given depends on the others.
                throw .unavailable("no whole answer in time")
            } catch {
                throw .unavailable("\(error)")
            }
            let now = loop.now.wall
            let object = try response.gatewayObject(retryAfter: response.retryAfter(now: now))
            switch call {
            case .range:
                succeed(try Snapshot(object, prefix: cluster.prefix), response)
            case .authenticate:
                token = try object.token
                ask(.range(prefix: cluster.prefix))
            case .watch:
                break
            }
        } catch {
            fail(error, call)
        }
    }

    private func succeed(_ snapshot: Snapshot, _ response: HTTPResponse) {
        let isWatchDeaf = watched.map { visit?.silent.contains($0) == true } ?? false
        visit = nil
        watch(from: snapshot, anew: isWatchDeaf)
        let now = loop.now.wall
        let answer = Answer(
            body: snapshot.body, flags: snapshot.flags, version: snapshot.version, fetchedAt: now)
        deliver(.fetched(name, .answer(answer), date: response.date(now: now)))
    }

    /// What can be done about it: log in, ask another endpoint, or give up for this time.
    private func fail(_ error: GatewayError, _ call: GatewayCall) {
        let failure = error.failure(of: "\(call.deed) '\(cluster.endpoints[endpoint])'")
        switch error {
        case .loginNeeded:
            if let login = cluster.login, visit?.hasLoggedIn == false {
                logIn(login)
            } else {
                end(failure)
            }
        case .loginNotWanted:
            guard case .authenticate = call else { return end(failure) }
            ask(.range(prefix: cluster.prefix))
        case .refused:
            end(failure)
        case .unavailable, .invalid:
            goOn(after: failure)
        }
    }

    private func logIn(_ login: Cluster.Login) {
        visit?.hasLoggedIn = true
        token = nil
        do {
            let password = try Secrets.password(login.password, bearings)
            ask(.authenticate(user: login.user, password: password))
        } catch {
            end(Failure(.unreachable, "\(error)"))
        }
    }

    private func goOn(after failure: Failure) {
        guard var visit else { return }
        visit.failure = visit.failure ?? failure
        visit.endpointsLeft -= 1
        visit.silent.insert(endpoint)
        self.visit = visit
        guard visit.endpointsLeft > 0, visit.deadline > loop.now.boot else {
            // The next fetch begins with the same endpoint, and tells of the same failure.
            endpoint = visit.startedAt
            var failure = visit.failure ?? failure
            let others = cluster.endpoints.count - 1
            if others > 0 { failure.detail += "; no other endpoint answers either" }
            return end(failure)
        }
        endpoint = (endpoint + 1) % cluster.endpoints.count
        ask(.range(prefix: cluster.prefix))
    }

    private func end(_ failure: Failure) {
        visit = nil
        stream?.pollFailed(failure)
        deliver(.fetched(name, .failure(failure)))
    }

    /// Watches from the revision that was read on. A watch that is open is opened anew where it would
    /// miss changes: it waits for revisions of another history, or is at a member that does not answer.
    private func watch(from snapshot: Snapshot, anew isDeaf: Bool) {
        let isOtherHistory = last.map {
            snapshot.cluster != $0.cluster || snapshot.revision < $0.revision
        }
        last = snapshot
        do {
            if let stream {
                if isDeaf || isOtherHistory == true { stream.start() }
                stream.pollSucceeded()
            } else {
                stream = try makeStream()
                stream?.start()
            }
        } catch {
            deliver(.unwatched(name, problem: "\(error)"))
        }
    }

    private func makeStream() throws(SystemError) -> Stream<WatchParser> {
        try Stream(
            of: name, policy: Self.policy(cluster), interval: interval, client: client,
            loop: loop, parser: { WatchParser() },
            request: { [unowned self] in try watchRequest() }, deliver: deliver)
    }

    /// Where no stream lasted, the next connection goes to the next endpoint.
    private func watchRequest() throws(CredentialError) -> HTTPRequest {
        let index = (endpoint + (stream?.failures ?? 0)) % cluster.endpoints.count
        watched = index
        let revision = last?.revision ?? 0
        return try request(.watch(prefix: cluster.prefix, from: revision + 1), at: index)
    }

    /// A member reports progress every ten minutes by default, and up to a tenth later. Whether a connection is there at all the
    /// kernel's probes tell sooner.
    private static func policy(_ cluster: Cluster) -> StreamPolicy {
        StreamPolicy(opening: cluster.timeout, silence: .seconds(12 * 60))
    }
}

extension GatewayCall {
    /// What it does, as the beginning of a sentence.
    fileprivate var deed: String {
        switch self {
        case .range: "read the keys at"
        case .watch: "watch the keys at"
        case .authenticate(let user, _): "log in as '\(user)' at"
        }
    }
}

extension JSON.Object {
    /// The token of an answer to a login. What cannot stand in a header is none.
    fileprivate var token: String {
        get throws(GatewayError) {
            guard let token = self["token"]?.string, !token.isEmpty, token.utf8.count <= 8192,
                token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw .invalid("the answer holds no token") }
            return token
        }
    }
}
