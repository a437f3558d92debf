import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Storage

/// `killswitchctl watch [SERVICE…]`
struct WatchServices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print a line for each change of a service.",
        discussion: """
            Begins with the current state, and goes on until it is stopped, or until nobody reads its \
            output any more. A line comes with each \
            change of state, reason, days left or text, and when a state file is out of date. \
            Services that are added later are watched too, unless some are named.

            example: killswitchctl watch --json | while read -r line; do notify "$line"; done
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print state.json of the service in one line, with 'current'.") var json = false

    @Argument(
        help: ArgumentHelp("The services; by default all of them.", valueName: "service"),
        completion: .services,
        transform: ServiceName.read)
    var services: [ServiceName] = []

    func run() throws {
        let published = try PublishedFiles(common)
        try ServiceWatcher(services, in: published).run { change in
            if json { printJSON(change.json, .compact) } else { printLine(change.line) }
            try flushOutput()
        }
    }
}

/// Tells of each change of the states of services.
private final class ServiceWatcher {
    private let loop: EventLoop
    /// The named services that have had no files yet.
    private var awaited: Set<ServiceName>
    private let stream: PublishedStream
    private let zone = ZoneFiles.local
    /// The last change of each service, by the facts that distinguish it.
    private var reported: [ServiceName: [JSON.Value?]] = [:]
    /// The states that could not be read at the last look.
    private var unreadable: [ServiceName: UnreadableState] = [:]

    /// A watcher of these services; of all present and future services if the list is empty.
    init(_ named: [ServiceName], in published: PublishedFiles) throws {
        loop = try EventLoop()
        awaited = Set(named)
        stream = try PublishedStream(
            of: named.isEmpty ? nil : named, [FileName.state], in: published, on: loop)
    }

    /// Calls `report` for each change, until something fails. If the reader of the output ends, as of
    /// `watch | head -1`, it ends as by SIGPIPE: it would learn that at the next change only.
    func run(_ report: (ServiceChange) throws -> Void) throws {
        var isUnread = false
        // A pipe, a socket or a terminal tells when the other end is closed. A file has no other end.
        let output = readable {
            try Descriptor(loop, STDOUT_FILENO, .error) { [stream] _ in
                isUnread = true
                stream.wake()
            }
        }
        defer { withExtendedLifetime(output) {} }
        throw try stream.until {
            if isUnread { return CommandEnd(end: .killed(SIGPIPE)) }
            for service in try Set(stream.services()).union(reported.keys).sorted() {
                try check(service, report)
            }
            return nil
        }
    }

    /// Tells of a service if it has changed.
    private func check(
        _ service: ServiceName, _ report: (ServiceChange) throws -> Void
    ) throws {
        let seen: (state: PublishedState, isCurrent: Bool)?
        do {
            seen = try stream.state(of: service)
            unreadable[service] = nil
        } catch {
            // Reported once. A daemon that starts removes the marker, and writes the file a moment later.
            let before = unreadable[service]
            let isKnown =
                before?.problem == error.problem
                && (error.marker == nil || before?.marker == error.marker)
            if !isKnown { printError("\(error)") }
            unreadable[service] = error
            return
        }
        if seen == nil, awaited.contains(service) { try stream.expectFiles(of: service) }
        guard seen != nil || reported[service] != nil else { return }
        awaited.remove(service)
        let change = ServiceChange(
            service: service, state: seen?.state, isCurrent: seen?.isCurrent ?? true,
            time: loop.now.wall, zone: zone)
        if reported[service] != change.essence { try report(change) }
        reported[service] = seen == nil ? nil : change.essence
    }
}

/// A line of `watch`: the new state of a service.
struct ServiceChange {
    let service: ServiceName
    /// Nil if the service is no longer configured.
    let state: PublishedState?
    /// Whether the state is not out of date.
    let isCurrent: Bool
    let time: Instant
    let zone: Zone

    /// The facts that distinguish this state from the last, without the times that move without a change.
    var essence: [JSON.Value?] {
        guard let object = state?.object else { return [] }
        let passing = ["decided_at", "valid_until", "fetched_at", "version"]
        return object.members.filter { !passing.contains($0.key) }.map(\.value) + [.bool(isCurrent)]
    }

    var line: String {
        let words =
            switch state {
            case nil: "is no longer configured"
            case .some(let state) where !isCurrent:
                "is out of date (it was \(state.summary)); see 'systemctl status killswitchd'"
            case .some(let state):
                "\(state.summary): \(state.object["reason_text"]?.string ?? state.reason)"
            }
        return "\(zone.rfc3339(time)) \(service) \(words)"
    }

    /// The object for programs: `state.json` with `current`.
    var json: JSON.Value {
        var object = state?.object ?? ["service": .string(service.text), "state": .null]
        object["current"] = .bool(isCurrent)
        return .object(object)
    }
}
