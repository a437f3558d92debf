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

    /// The largest report: one of 10,000 services has about 8 MB.
    private static let mostBytes = 16 << 20

    /// A reader of this folder. Throws if it is none.
    init(_ folder: String, _ service: ServiceName) throws {
        place = try orFail(.usage) { try File.absolute(folder) }
        self.service = service
    }

    /// Files whose names begin with a dot, as those that a receiver is writing, are none.
    func read(within limit: Duration) throws -> [HostFinding] {
        let names = try Directory.list(place).filter { !$0.hasPrefix(".") }.sorted()
        guard !names.isEmpty else {
            throw CommandFailure("no host has left a report in '\(place)'")
        }
        var reports = FleetReports(about: service, at: EventLoop.wallClock)
        for name in names {
            do {
                reports.add(try File.read("\(place)/\(name)", limit: Self.mostBytes), of: name)
            } catch {
                reports.add(unreadable: "\(error)", of: name)
            }
        }
        guard !reports.findings.isEmpty else {
            throw CommandFailure(
                "no report in '\(place)' is of a host with the service '\(service)'")
        }
        return reports.findings
    }
}
