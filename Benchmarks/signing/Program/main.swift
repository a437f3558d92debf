import CivilTime
import Decision
import EventLoop
import Files
import FlagSignatures
import Glibc
import Signing

/// The processor time of this process, in milliseconds.
func milliseconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

/// The median time of many calls, in milliseconds.
func median(of work: () throws -> Void) throws -> Double {
    var times: [Double] = []
    for _ in 0..<500 {
        let began = milliseconds()
        try work()
        times.append(milliseconds() - began)
    }
    return times.sorted()[times.count / 2]
}

func shown(_ time: Double) -> String { "\((time * 1000).rounded() / 1000) ms" }

// usage: signing-benchmark SIGNERS FILE...
guard CommandLine.arguments.count > 2 else { exit(2) }
let signers = try AllowedSigners(
    File.read(CommandLine.arguments[1], limit: AllowedSigners.maximumSize), zone: .utc)
let limit = 1.0
var slowest = 0.0
for path in CommandLine.arguments.dropFirst(2) {
    let bytes = try File.read(path, limit: 64 << 20)
    let content = SignedDocument.content(of: bytes)
    let parsing = try median { _ = try FlagDocument.parse(content) }
    let whole = try median {
        _ = try SignedFlags.answer(in: bytes, by: signers, at: EventLoop.wallClock)
    }
    let verifying = whole - parsing
    // A document of many signatures, or of a megabyte, is no usual one: it is shown beside the limit.
    if bytes.count < 4 << 10 { slowest = max(slowest, verifying) }
    let name = path.split(separator: "/").last ?? ""
    print("\(name): parsing \(shown(parsing)), verifying \(shown(verifying))")
}
print(
    "LIMIT  verifying a usual document  \(shown(slowest)) at most \(shown(limit)) \(slowest < limit ? "ok" : "MISSED")"
)
exit(slowest < limit ? 0 : 1)
