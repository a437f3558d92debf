import CivilTime
import Decision
import EventLoop
import Files
import Fleet
import JSON

/// Reads the last report of each host, in a folder that a receiver of `[report]` fills: a file for each host.
struct ReportReader: FleetReader {
    let place: String
    let pause: Duration = .seconds(1)
    private let service: ServiceName

    /// The lists of a report have 960 KiB at most.
    private static let mostBytes = (1 << 20) + (64 << 10)
    private static let mostHosts = 200_000
    /// Usual reports of 10,000 hosts take a second or two.
    private static let longestReading: Duration = .seconds(30)

    /// A reader of this folder. Throws if it is none.
    init(_ folder: String, _ service: ServiceName) throws {
        place = try orFail(.usage) { try File.absolute(folder) }
        self.service = service
    }

    /// Files whose names begin with a dot, as those that a receiver is writing, are none. Nothing is known without time
    /// for all files: the name of a file does not tell whose report is missing.
    func read(within limit: Duration) throws -> [HostFinding] {
        let end = EventLoop.bootClock + min(limit, Self.longestReading)
        let names = try Directory.list(place).filter { !$0.hasPrefix(".") }.sorted()
        guard !names.isEmpty else {
            throw CommandFailure("no host has left a report in '\(place)'")
        }
        guard names.count <= Self.mostHosts else {
            throw CommandFailure("more than \(Self.mostHosts) files are in '\(place)'")
        }
        var reports = FleetDocuments(about: service, at: EventLoop.wallClock)
        for (index, name) in names.enumerated() {
            guard EventLoop.bootClock < end else {
                throw CommandFailure(
                    "there was time for \(index) of \(names.count) reports in '\(place)'")
            }
            let host = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
            do {
                reports.add(try File.read("\(place)/\(name)", limit: Self.mostBytes), of: host)
            } catch {
                reports.add(unreadable: "\(error)", of: host)
            }
        }
        guard !reports.findings.isEmpty else {
            throw CommandFailure(
                "no report in '\(place)' is of a host with the service '\(service)'")
        }
        return reports.findings
    }
}
