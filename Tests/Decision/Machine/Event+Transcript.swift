import CivilTime
import Decision
import Support

extension Event {
    /// The event that a line of a transcript says:
    ///
    ///     started · woke · startup wait ended
    ///     APP answers {"state":"ended"} etag old signed by alice,bob date 12:00:05 age 30s
    ///     APP unchanged date 12:00:05 age 30s
    ///     APP fails: no route · APP fails refused: … · APP fails invalid retry after 600s: …
    ///     APP hinted · APP unwatched: …
    ///     force SHOP maintenance from 12:00:00 until 13:00:00 if open as drill by root for disk swap
    ///     release SHOP by root for disk swap · confirm SHOP WEB by root · activate SHOP · activate all
    ///     forget APP by root · forget APP by root with its version for a lost key
    ///     GUARD passes · GUARD holds: … · SHOP has 1.9.0
    ///     WRITE done · WRITE fails: …
    ///
    /// WRITE is an effect: `store APP`, `raise APP`, `confirm APP`, `remember`, `keep`, `publish SHOP` …
    init(_ line: inout EventLine, at now: Now) throws {
        if let event = Self.plain.first(where: { line.reads($0.words) })?.event {
            self = event
        } else if let order = try Self.order(&line, at: now) {
            self = order
        } else if let operation = try WriteOperation(&line) {
            self = try Self.ended(operation, &line)
        } else {
            let name = try line.word()
            guard
                let event = try Self.source(named(name), &line, at: now)
                    ?? Self.service(name, &line)
            else { throw TestFailure("unknown event '\(name) \((try? line.all()) ?? "")'") }
            self = event
        }
        try line.refuseMore()
    }

    private static let plain: [(words: String, event: Event)] = [
        ("started", .started), ("woke", .woke), ("startup wait ended", .startupWaitEnded),
    ]

    private static func order(_ line: inout EventLine, at now: Now) throws -> Event? {
        if line.reads("force") { return try force(&line, at: now) }
        if line.reads("release") {
            let service: ServiceName = try line.name()
            return .release(service, by: try line.author(upTo: "for"), only: try line.allIfAny())
        }
        if line.reads("activate") { return .activate(line.reads("all") ? nil : try line.name()) }
        if line.reads("confirm") {
            let first = try line.word()
            if let event = try? ended(.markConfirmed(named(first)), &line) { return event }
            var services: [ServiceName] = [try named(first)]
            while !line.isBefore("by") { services.append(try line.name()) }
            return .confirm(services, by: try line.author())
        }
        if line.reads("forget") {
            let source: SourceName = try line.name()
            let author = try line.author(upTo: "with its version for")
            return .forget(source, by: author, versionCause: try line.allIfAny())
        }
        return nil
    }

    private static func force(_ line: inout EventLine, at now: Now) throws -> Event {
        let (service, word) = try (line.name() as ServiceName, line.word())
        let since = line.reads("from") ? try line.time(on: now.wall) : now.wall
        let until: Instant? =
            line.reads("until released")
            ? nil : line.reads("until") ? try line.time(on: now.wall) : now.wall + .seconds(3600)
        let (ifOpen, isDrill) = (line.reads("if open"), line.reads("as drill"))
        let author = try line.author(upTo: "for")
        guard let state = State(rawValue: word),
            let override = Override(
                state: state, cause: try line.all(), author: author, since: since, until: until,
                isDrill: isDrill)
        else { throw TestFailure("nobody can order '\(word)'") }
        return .force(service, override, ifOpen: ifOpen)
    }

    private static func ended(_ operation: WriteOperation, _ line: inout EventLine) throws -> Event
    {
        if line.reads("done") { return .writeEnded(operation, problem: nil) }
        guard line.reads("fails") else { throw TestFailure("a write is done, or it fails") }
        return .writeEnded(operation, problem: try line.clause())
    }

    private static func source(
        _ name: SourceName, _ line: inout EventLine, at now: Now
    ) throws -> Event? {
        if line.reads("answers") || line.reads("accepts") {
            return try fetched(name, .answer(line.answer(at: now)), &line, at: now)
        }
        if line.reads("unchanged") { return try fetched(name, .unchanged, &line, at: now) }
        if line.reads("fails") { return .fetchEnded(name, .failure(try line.failure())) }
        if line.reads("hinted") { return .hinted(name) }
        if line.reads("unwatched") { return .watchChanged(name, problem: try line.clause()) }
        return nil
    }

    private static func fetched(
        _ source: SourceName, _ outcome: Outcome, _ line: inout EventLine, at now: Now
    ) throws -> Event {
        let date = line.reads("date") ? try line.time(on: now.wall) : nil
        return .fetchEnded(
            source, outcome, date: date, age: line.reads("age") ? try line.duration() : .zero)
    }

    private static func service(_ name: String, _ line: inout EventLine) throws -> Event? {
        if line.reads("passes") { return .guardAnswered(try named(name), .passes) }
        if line.reads("holds") { return .guardAnswered(try named(name), .holds(try line.clause())) }
        guard line.reads("has"), let version = Version(try line.all()) else { return nil }
        return .versionInstalled(try named(name), version)
    }
}

extension WriteOperation {
    /// The write that an event is about, by the words of its effect; nil if other words come next.
    fileprivate init?(_ line: inout EventLine) throws {
        if line.reads("store") {
            self = .storeFlags(try line.name())
        } else if line.reads("raise") {
            self = .storeVersion(try line.name())
        } else if line.reads("drop the version of") {
            self = .dropVersion(try line.name())
        } else if line.reads("reserve a version of") {
            self = .reserveVersion(try line.name())
        } else if line.reads("remember") {
            self = .storeLedger
        } else if line.reads("keep") {
            self = .storeOverrides
        } else if line.reads("publish") {
            self = .publish(try line.name())
        } else {
            return nil
        }
    }
}

extension EventLine {
    fileprivate mutating func answer(at now: Now) throws -> Answer {
        var answer = try DecisionTests.answer(try object(), fetchedAt: now.wall)
        if reads("etag") { answer.validators.etag = try word() }
        if reads("signed by") {
            let authors = try word().split(separator: ",").map(String.init)
            answer.signed = SignedAnswer(
                try SignedMetadata(answer.flags, digest: answer.body), by: authors)
        }
        return answer
    }

    fileprivate mutating func failure() throws -> Failure {
        let kind: Failure.Kind =
            reads("refused") ? .refused : reads("invalid") ? .invalid : .unreachable
        let wait = reads("retry after") ? try duration() : nil
        return Failure(kind, try clause(), retryAfter: wait)
    }
}
