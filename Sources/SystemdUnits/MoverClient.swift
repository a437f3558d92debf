import CivilTime
import Decision
package import EventLoop
package import Files
package import Gates
import POSIX

/// The daemon's side of root's mover: asks it to look at the files, and tells what systemd has taken or refused.
///
/// The daemon has no right but this. A request is a number in a datagram; it has no content that could be lost, because
/// the files have it. The mover answers in a file of root's own, with the number of the last request that it has
/// covered. A request without an answer is sent again, after 1, 2, 4 and then every 5 seconds.
package final class MoverClient {
    private let loop: EventLoop
    private let post: (GateEvent) -> Void
    private let address: SocketAddress
    private let record: String
    private let attachFile: String
    private var socket: DatagramSocket?
    private var watch: PathWatch?
    private var socketWatch: PathWatch?
    private var timer: Timer?
    /// The jobs that were asked for since the last request.
    private var jobs: [TargetJob] = []
    /// The requests that are not answered, in their order.
    private var asked: [(number: UInt64, jobs: [TargetJob])] = []
    /// The number of the last request to attach, if it is not answered.
    private var attaching: UInt64?
    private var isDue = false
    private var failures = 0

    /// `folder` is the runtime directory: the mover's socket and its answer are beside it, where only root can put
    /// them. Throws if the process has no descriptor left, or the directory cannot be written.
    package init(
        _ loop: EventLoop, runtime folder: String, post: @escaping (GateEvent) -> Void
    ) throws {
        self.loop = loop
        self.post = post
        address = .path(MoverPlaces.socket(beside: folder))
        record = MoverPlaces.record(beside: folder)
        attachFile = "\(folder)/\(TargetOrders.attachFileName)"
        socket = try DatagramSocket()
        if try !File.exists(attachFile) { try write(attachNumber: 0) }
        timer = try Timer(loop, accuracy: .milliseconds(10)) { [unowned self] in repeatRequest() }
        watch = PathWatch(loop, path: record) { [unowned self] in readAnswer() }
        socketWatch = PathWatch(loop, path: MoverPlaces.socket(beside: folder)) { [unowned self] in
            // It was made anew, and what waited in the old one is lost. A moment later it is ours.
            failures = 0
            if !asked.isEmpty { timer?.set(at: loop.now.boot + .milliseconds(100)) }
        }
    }

    /// Has a job done that the file of its service names.
    package func add(_ job: TargetJob) {
        jobs.append(job)
        isDue = true
    }

    /// Has the unit of root started that attaches the units of the configuration.
    package func attach() {
        let number = nextNumber
        do {
            try write(attachNumber: number)
            attaching = number
            isDue = true
        } catch {
            post(.attachAnswered(problem: .refused("\(error)")))
        }
    }

    /// Sends one request for all that was added.
    package func send() {
        guard isDue else { return }
        isDue = false
        asked.append((nextNumber, jobs))
        (jobs, failures) = ([], 0)
        sendRequest()
    }

    /// Higher than each number before it, also than those of an earlier daemon.
    private var nextNumber: UInt64 {
        max(UInt64(loop.now.boot.microseconds), (asked.last?.number ?? 0) + 1)
    }

    private func sendRequest() {
        guard let number = asked.last?.number else { return }
        // What is not taken at once is sent again.
        do { try socket?.send(Array("\(number)".utf8), to: address) } catch {}
        timer?.set(at: loop.now.boot + min(Retry.local(after: failures), .seconds(5)))
        failures += 1
    }

    private func repeatRequest() {
        readAnswer()
        if !asked.isEmpty { sendRequest() }
    }

    private func readAnswer() {
        guard !asked.isEmpty || attaching != nil,
            let bytes = readable({ try File.read(record, limit: MoverRecord.limit) })
        else { return }
        let answer = MoverRecord(String(decoding: bytes, as: UTF8.self))
        let answered = Array(asked.prefix { $0.number <= answer.request })
        asked.removeFirst(answered.count)
        if asked.isEmpty { timer?.set(at: nil) }
        for job in answered.flatMap({ $0.jobs }) {
            post(
                .jobAnswered(
                    job, problem: answer.refused[job]?.obstacle,
                    number: answer.done[job]?.job ?? 0))
        }
        guard let number = attaching, answer.attached >= number else { return }
        attaching = nil
        post(.attachAnswered(problem: answer.attachRefusal?.obstacle))
    }

    private func write(attachNumber number: UInt64) throws(FileError) {
        try File.replace(attachFile, with: Array("\(number)\n".utf8))
    }
}

/// Where the mover listens and answers: beside the runtime directory, where the daemon's user can replace nothing.
package enum MoverPlaces {
    package static func socket(beside runtime: String) -> String { "\(runtime)-gates.sock" }

    /// Says that no daemon has gates moved by these files: the marker `closed` alone stands for nothing then.
    package static func forget(in runtime: String) throws(FileError) {
        try File.remove("\(runtime)/\(TargetOrders.attachFileName)")
    }

    package static func record(beside runtime: String) -> String { "\(runtime)-gates/record" }
}
