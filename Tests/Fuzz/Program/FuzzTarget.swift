import CFuzzer
import Decision
import Glibc

/// The things that read foreign bytes, each fuzzed on its own. The raw value names it on the command line,
/// and names its folder of seeds and its dictionary.
///
/// Every target also checks what has to be true of the result: that it can be written and read again, that it
/// is within its limits. A check that fails ends the process, as a trap does.
enum FuzzTarget: String, CaseIterable {
    case signatures
    case allowedSigners = "allowed-signers"
    case json
    case serviceEnd = "service-end"
    case boolean
    case status
    case maintenance
    case switchObject = "switch"
    case serverTemplate = "server-template"
    case clientTemplate = "client-template"
    case evaluations
    case eventStream = "event-stream"
    case invalidations
    case etcdWatch = "etcd-watch"
    case snapshot
    case headers
    case dates
    case timeZone = "time-zone"
    case varlink
    case storedFlags = "stored-flags"
    case storedState = "stored-state"
    case settings
    case prometheus
    case guardAnswer = "guard"
    case fleetReports = "fleet-reports"
    case etcdPage = "etcd-page"
    case inventory
    case targets

    /// The target of this process.
    nonisolated(unsafe) private static var chosen = FuzzTarget.json
    /// How many inputs its reader has accepted.
    nonisolated(unsafe) private static var accepted = 0

    /// Runs libFuzzer on this target. At its end the process says how many inputs were accepted: a target
    /// that refuses them all tests nothing but its first line.
    func drive() -> Int32 {
        unsafe Self.chosen = self
        atexit { print("accepted \(unsafe FuzzTarget.accepted)") }
        var arguments = CommandLine.arguments
        arguments.remove(at: 1)
        var count = Int32(arguments.count)
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        return unsafe words.withUnsafeBufferPointer { buffer in
            var list = unsafe UnsafeMutablePointer(mutating: buffer.baseAddress)
            return unsafe LLVMFuzzerRunDriver(&count, &list) { data, size in
                let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
                if unsafe FuzzTarget.chosen.accepts(bytes) { unsafe FuzzTarget.accepted += 1 }
                return 0
            }
        }
    }

    /// Reads the bytes as a server, a file or a peer would have sent them; returns whether they were accepted.
    private func accepts(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .signatures: Fuzz.signatures(bytes)
        case .allowedSigners: Fuzz.allowedSigners(bytes)
        case .json: Fuzz.json(bytes)
        case .serviceEnd: Fuzz.flags(bytes, .serviceEnd)
        case .boolean:
            Fuzz.flags(bytes, .boolean(BooleanFlag(key: nil, closedWhen: true)))
        case .status: Fuzz.flags(bytes, .status(.whole))
        case .maintenance: Fuzz.flags(bytes, .maintenance(.memberOrWhole("config")))
        case .switchObject: Fuzz.flags(bytes, .switchObject(.whole))
        case .serverTemplate: Fuzz.serverTemplate(bytes)
        case .clientTemplate: Fuzz.clientTemplate(bytes)
        case .evaluations: Fuzz.evaluations(bytes)
        case .eventStream: Fuzz.eventStream(bytes)
        case .invalidations: Fuzz.invalidations(bytes)
        case .etcdWatch: Fuzz.etcdWatch(bytes)
        case .snapshot: Fuzz.snapshot(bytes)
        case .headers: Fuzz.headers(bytes)
        case .dates: Fuzz.dates(bytes)
        case .timeZone: Fuzz.timeZone(bytes)
        case .varlink: Fuzz.varlink(bytes)
        case .storedFlags: Fuzz.storedFlags(bytes)
        case .storedState: Fuzz.storedState(bytes)
        case .settings: Fuzz.settings(bytes)
        case .prometheus: Fuzz.prometheus(bytes)
        case .guardAnswer: Fuzz.guardAnswer(bytes)
        case .fleetReports: Fuzz.reports(bytes)
        case .etcdPage: Fuzz.etcdPage(bytes)
        case .inventory: Fuzz.inventory(bytes)
        case .targets: Fuzz.targets(bytes)
        }
    }
}

enum Fuzz {
    /// Ends the process unless something holds that has to.
    static func hold(_ condition: Bool, _ what: @autoclosure () -> String) {
        if condition { return }
        print("broken: \(what())")
        fflush(nil)
        abort()
    }

    /// The value of a reader that may refuse the bytes.
    static func accepted<Value>(_ read: () throws -> Value) -> Value? {
        do { return try read() } catch { return nil }
    }
}
