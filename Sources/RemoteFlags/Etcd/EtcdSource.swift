package import Decision
import Faults
import Files
package import JSON
package import SourceKinds
import Transfer

/// Flags in etcd: all keys with a prefix, read whole at each fetch, and a watch that hints at
/// changes of them from the revision of the last fetch on.
///
/// A fetch asks the endpoint that answered last, and the next endpoint if it does not answer. Each
/// endpoint gets an equal share of the remaining time.
package final class EtcdSource: FlagSource {
    private let site: EtcdSite
    private let context: SourceContext
    private let fetch: Fetch
    private var stream: Stream<WatchParser>?
    /// The token of the last login.
    private var token: String?
    private var round: Round?
    /// The keys, less the prefix, that services of this host read.
    private var keys: Set<ExactString> = []
    /// The flags of the last good fetch, and their revision.
    private var last: Snapshot?
    /// The endpoint of the watch.
    private var watched: Int?
    /// The endpoint of the next request. The first is chosen at random, so that hosts spread.
    private var endpoint: Int

    /// The endpoints that a fetch has asked and may still ask.
    private struct Round {
        let startedAt: Int
        var endpointsLeft: Int
        var silent: Set<Int> = []
        var hasLoggedIn = false
        /// The failure of the first endpoint.
        var failure: Failure?
    }

    /// A source that fetches nothing yet.
    package init(_ site: EtcdSite, _ context: SourceContext) {
        Invariant.hold(!site.endpoints.isEmpty, "an etcd cluster has an endpoint")
        self.site = site
        self.context = context
        // The time limit of an endpoint depends on the other endpoints.
        fetch = Fetch(
            "", limit: site.server.limits.timeout, timeout: "no whole answer in time", for: context)
        endpoint = Int.random(in: site.endpoints.indices)
    }

    package var name: SourceName { context.name }

    /// The prefix, the user and the endpoints. There is no secret in it.
    package var binding: String {
        let user = site.login.map { " as \($0.user)" } ?? ""
        return "etcd:\(site.prefix)\(user) at \(site.endpoints.sorted().joined(separator: ","))"
    }

    /// Fetches if there are new keys: their changes were not followed.
    package func follow(_ keys: Set<ExactString>) {
        let isMore = !keys.isSubset(of: self.keys)
        self.keys = keys
        if isMore, last != nil { context.deliver(.hinted(name)) }
    }

    /// Does nothing: the watch begins at the revision of the first fetch.
    package func start() {}

    package func fetch(unlessMatching validators: Validators) {
        fetch.begin()
        round = Round(startedAt: endpoint, endpointsLeft: site.endpoints.count)
        ask(.range(prefix: site.prefix))
    }

    package func stop() {
        fetch.stop()
        stream = nil
        round = nil
    }

    // MARK: - One fetch

    private func ask(_ question: GatewayRequest) {
        guard let round else { return }
        fetch.operation = "\(question.operation) '\(site.endpoints[endpoint])'"
        do {
            var request = try request(question, at: endpoint)
            request.timeout = fetch.timeLeft / round.endpointsLeft
            fetch.send(PreparedRequest(request)) { [unowned self] in take($0, to: question) }
        } catch {
            fail(Failure(.unreachable, "\(error)"))
        }
    }

    private func request(
        _ question: GatewayRequest, at endpoint: Int
    ) throws(CredentialError) -> HTTPRequest {
        let secrets = try Secrets(of: site.server, context.environment)
        var request = site.server.request(with: secrets, agent: context.environment.agent)
        request.url = site.endpoints[endpoint] + question.path
        request.body = question.object.bytes
        request.keptOfRefusal = 1024
        request.headers.append(Header("Content-Type", "application/json"))
        request.headers += question.headers
        if let token { request.headers.append(Header("Authorization", token)) }
        return request
    }

    private func take(_ result: Result<HTTPResponse, Failure>, to question: GatewayRequest) {
        let response: HTTPResponse
        switch result {
        case .success(let answer): response = answer
        case .failure(let failure): return askNext(after: failure)
        }
        do throws(GatewayError) {
            let object = try response.gatewayObject(now: context.now.wall)
            guard question.isLogin else {
                return succeed(try Snapshot(object, prefix: site.prefix))
            }
            guard let token = object["token"]?.string, token.isVisibleASCII,
                token.utf8.count <= 8192
            else { throw .invalid("the answer holds no token") }
            self.token = token
            ask(.range(prefix: site.prefix))
        } catch {
            recover(from: error, of: question)
        }
    }

    private func succeed(_ snapshot: Snapshot) {
        let isWatchSilent = watched.map { round?.silent.contains($0) == true } ?? false
        round = nil
        watch(from: snapshot, anew: isWatchSilent)
        let now = context.now.wall
        let answer = Answer(
            body: snapshot.body, flags: snapshot.flags, version: .ofEach(snapshot.revisions),
            fetchedAt: now)
        // No Date: the members of a cluster have a clock each, and none of them announced an end.
        context.end(.answer(answer))
    }

    /// Retries after a login, without a token or at another endpoint; else the fetch fails.
    private func recover(from error: GatewayError, of question: GatewayRequest) {
        let failure = error.failure(of: fetch.operation)
        switch error {
        case .loginNeeded:
            if let login = site.login, round?.hasLoggedIn == false {
                logIn(login)
            } else {
                fail(failure)
            }
        case .loginNotWanted:
            guard question.isLogin else { return fail(failure) }
            ask(.range(prefix: site.prefix))
        case .refused: fail(failure)
        case .unavailable, .invalid: askNext(after: failure)
        }
    }

    private func logIn(_ login: EtcdSite.Login) {
        round?.hasLoggedIn = true
        token = nil
        do {
            let password = try context.environment.password(login.password)
            ask(.authenticate(user: login.user, password: password))
        } catch {
            fail(Failure(.unreachable, "\(error)"))
        }
    }

    private func askNext(after failure: Failure) {
        guard var round else { return }
        var first = round.failure ?? failure
        round.failure = first
        round.endpointsLeft -= 1
        round.silent.insert(endpoint)
        self.round = round
        guard round.endpointsLeft > 0, fetch.timeLeft > .zero else {
            // The next fetch begins with the same endpoint, and so fails with the same sentence.
            endpoint = round.startedAt
            if site.endpoints.count > 1 { first.detail += "; no other endpoint answers either" }
            return fail(first)
        }
        endpoint = (endpoint + 1) % site.endpoints.count
        ask(.range(prefix: site.prefix))
    }

    private func fail(_ failure: Failure) {
        round = nil
        stream?.pollFailed(failure)
        context.end(.failure(failure))
    }

    // MARK: - The watch

    /// Watches from the revision of a snapshot on. An open watch is reopened if it would miss
    /// changes: if it waits for revisions of another history, or its member does not answer.
    private func watch(from snapshot: Snapshot, anew isSilent: Bool) {
        let isOtherHistory = last.map {
            snapshot.cluster != $0.cluster || snapshot.revision < $0.revision
        }
        last = snapshot
        do {
            if let stream {
                if isSilent || isOtherHistory == true { stream.start() }
                stream.pollSucceeded()
            } else {
                // A member reports progress every ten minutes by default, and up to a tenth later.
                // The kernel's keep-alive probes find a dead connection sooner.
                stream = try Stream(
                    for: context,
                    StreamPolicy(
                        opening: site.server.limits.timeout, silence: .seconds(12 * 60),
                        hints: .ofKeys),
                    parser: { [unowned self] in
                        WatchParser { [unowned self] key, _ in isRead(key) }
                    },
                    request: { [unowned self] in try watchRequest() })
                stream?.start()
            }
        } catch {
            context.tell(problem: "\(error)")
        }
    }

    /// Whether a service of this host reads the key. A key that is not UTF-8 names no flag.
    private func isRead(_ key: [UInt8]) -> Bool {
        let flag = String(validating: key.dropFirst(site.prefix.utf8.count), as: UTF8.self)
        return flag.map { keys.contains(ExactString($0)) } ?? false
    }

    /// Each connection that does not last makes the next go to another endpoint.
    private func watchRequest() throws(CredentialError) -> HTTPRequest {
        let index = (endpoint + (stream?.failures ?? 0)) % site.endpoints.count
        watched = index
        let revision = last?.revision ?? 0
        return try request(.watch(prefix: site.prefix, from: revision + 1), at: index)
    }
}
