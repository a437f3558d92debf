import CivilTime
import Decision
import Reports

/// The parts of the benchmark. The script `run` starts etcd, calls them, and has the limits.
enum FleetBenchmark {
    static func run(_ arguments: [String]) throws -> Int32 {
        switch arguments.first {
        case "origin" where arguments.count == 2:
            let count = try number(arguments[1])
            var model = Origin(hosts: count)
            model.run()
            return 0
        case "closing" where arguments.count == 7:
            let cluster = TestCluster(
                url: arguments[3], authority: arguments[4], certificate: arguments[5],
                key: arguments[6])
            let first = try number(arguments[1])
            try Closing(of: first...max(first, number(arguments[2])), in: cluster).run()
            return 0
        case "refreshes" where arguments.count == 3:
            try Refreshes(hosts: try number(arguments[1]), killed: try number(arguments[2])).run()
            return 0
        default:
            print(
                "usage: fleet-benchmark origin HOSTS | closing FIRST LAST URL AUTHORITY CERTIFICATE KEY "
                    + "| refreshes HOSTS KILLED")
            return 2
        }
    }

    private struct NoNumber: Error {}

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw NoNumber() }
        return number
    }

    /// One figure of the script: its name has no blanks.
    static func record(_ name: String, _ value: Double) {
        print("FIGURE \(name) \((value * 1000).rounded() / 1000)")
    }
}

/// A host of the fleet, and what it says of the service `shop`.
struct FleetMember {
    static let service: ServiceName = {
        guard let name = ServiceName("shop") else { fatalError("'shop' is a name") }
        return name
    }()

    /// The default of `[report] spread`.
    static let spread: Duration = .seconds(60)

    let number: Int
    var telling: Telling

    init(_ number: Int) {
        self.number = number
        telling = Telling(seed: UInt64(number) &* 0x9E37_79B9 &+ 7)
    }

    /// 32 digits, as a machine id is.
    var machineID: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    /// What it says while its units run.
    var open: HostBrief { brief(.running, .open) }

    /// What it says once its units are down.
    var closed: HostBrief { brief(.maintenance, .closed) }

    private func brief(_ state: State, _ gate: Gate) -> HostBrief {
        HostBrief(
            host: "host-\(number).example.com", bootID: machineID, movesGates: true,
            [
                HostBrief.Service(
                    Self.service, state: state, gate: gate, version: "42", status: .applied)
            ])
    }
}
