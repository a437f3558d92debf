import CivilTime
import Decision
package import EventLoop
import Files
import Gates
import JSON
import Systemd

/// Root's mover: carries out what the daemon has written into the files `SERVICE/targets`, and nothing else.
///
/// It is the one process with a right: it starts and stops the targets of gates, and starts the unit that attaches
/// the units of root's configuration. The daemon has none, and may be in foreign hands, so everything of it is read as
/// hostile: see `OrderFiles`.
///
/// Nothing waits in it. Each look reads the files as they are now, and compares them with what systemd lists over its
/// own socket for root: no bus is needed, nor polkit. A look that systemd does not answer begins anew. A request says
/// *look*, and the look at the start makes up for one that a killed mover has received.
package final class Mover {
    private let loop: EventLoop
    private let files: OrderFiles
    private let path: String
    private let requests: RequestSocket
    private let connect: () throws(BusError) -> Bus
    private let log: (String) -> Void
    /// What it has done since the boot, and the number of the last request that a look has covered.
    private var record: MoverRecord
    private var bus: Bus?
    private var timer: Timer?
    private var attachTimer: Timer?
    private var listener: Descriptor?
    private var request: UInt64
    private var isDue = true
    private var isRunning = false
    private var failures = 0
    /// When the next look may begin. A look takes the processor, and a foreign daemon may ask without end.
    private var nextPassAt = Boottime(microseconds: 0)
    private var mayAttachAt = Boottime(microseconds: 0)

    /// A mover for the files in this runtime directory. `descriptor` is the socket of the requests, and `path` that of
    /// the file in which it says what it has done. `address` is that of a bus on which systemd is, for tests; nil for
    /// systemd's own socket. Throws if the file cannot be read.
    package init(
        _ loop: EventLoop, requests descriptor: Int32, runtime folder: String, record path: String,
        address: String? = nil, log: @escaping (String) -> Void
    ) throws {
        self.loop = loop
        connect = { () throws(BusError) in
            guard let address else { return try Bus(toSystemdOn: loop) }
            return try Bus(loop, address: address)
        }
        self.path = path
        self.log = log
        files = OrderFiles(folder, log: log)
        requests = RequestSocket(descriptor)
        record =
            try File.ifThere(File.read(path, limit: MoverRecord.limit))
            .map { MoverRecord(String(decoding: $0, as: UTF8.self)) } ?? MoverRecord()
        request = record.request
        timer = try Timer(loop, accuracy: .zero) { [unowned self] in runPassIfDue() }
        attachTimer = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in
            isDue = true
            runPassIfDue()
        }
        listener = try Descriptor(loop, descriptor, .readable) { [unowned self] _ in
            // Each look is at everything: of several requests the last is enough.
            guard let newest = requests.newest() else { return }
            (request, isDue) = (newest, true)
            runPassIfDue()
        }
        runPassIfDue()
    }

    private func runPassIfDue() {
        let now = loop.now.boot
        if nextPassAt > now { timer?.set(at: nextPassAt) }
        let mayRun = !isRunning && nextPassAt <= now
        // What comes meanwhile waits in the socket: whoever floods it does not keep the mover busy.
        listen(mayRun && !isDue)
        guard mayRun, isDue else { return }
        (isDue, isRunning) = (false, true)
        let covered = request
        attempt {
            let bus = try self.bus ?? connect()
            self.bus = bus
            try bus.call(.ourTargets, within: Self.timeLimit) { [unowned self] answer in
                attempt {
                    let listed = try answer.get().listedTargets()
                    try carryOut(listed, over: bus, covering: covered, began: now)
                }
            }
        }
    }

    private func listen(_ isListening: Bool) {
        do { try listener?.listen(for: isListening ? .readable : []) } catch { log("\(error)") }
    }

    /// systemd cannot be asked, as while it executes itself anew: looks again until it can.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            bus = nil
            (isDue, isRunning) = (true, false)
            failures += 1
            // The daemon has said by now that nobody moves gates.
            if failures == 10 { log("no gate is moved: \(error); retrying") }
            nextPassAt = loop.now.boot + Self.pause
            runPassIfDue()
        }
    }

    /// Asks systemd for what the files want and the list lacks. The look ends when all is answered.
    private func carryOut(
        _ listed: [GateTarget: ListedTarget], over bus: Bus, covering covered: UInt64,
        began: Boottime
    ) throws {
        var next = record
        next.request = covered
        let services = try files.services()
        let isThere = Set(services)
        next.done = next.done.filter { isThere.contains($0.key.target.service) }
        next.refused = [:]
        var numbers: [TargetJob: UInt64] = [:]
        for service in services {
            guard let orders = files.orders(of: service) else { continue }
            for job in orders.due(listed, record) { numbers[job] = orders.number(of: job) }
        }
        var calls = TargetJob.inOrder(numbers.keys.sorted()).map(MoverCall.move)
        if let number = files.attachNumber, number > record.attached {
            if mayAttachAt <= began {
                mayAttachAt = began + Self.attachPause
                calls.append(.attach(number))
            } else {
                attachTimer?.set(at: mayAttachAt)
            }
        }
        guard !calls.isEmpty else { return end(next, began: began) }
        var left = calls.count
        for call in calls {
            try bus.call(call.message, within: Self.timeLimit) { [unowned self] answer in
                left -= 1
                switch answer {
                case .success(let message):
                    let job = message.content { try $0.jobNumber() } ?? 0
                    switch call {
                    case .move(let moved):
                        next.done[moved] = .init(number: numbers[moved] ?? 0, job: job)
                    case .attach(let number): (next.attached, next.attachRefusal) = (number, nil)
                    }
                // systemd is gone, or has not answered: the same is done at the next look.
                case .failure(let error) where !error.isOfRemote:
                    return attempt { throw error }
                case .failure(let error):
                    let refusal = MoverRecord.Refusal(
                        name: error.name ?? "", words: error.message.printable(limit: 200))
                    switch call {
                    case .move(let refused): next.refused[refused] = refusal
                    case .attach(let number):
                        (next.attached, next.attachRefusal) = (number, refusal)
                    }
                }
                if left == 0 { end(next, began: began) }
            }
        }
    }

    private func end(_ next: MoverRecord, began: Boottime) {
        if next != record {
            record = next
            do {
                try File.replace(path, with: Array(next.text.utf8))
            } catch {
                log("\(error)")
            }
        }
        (isRunning, failures) = (false, 0)
        // Ten looks a second and half of a processor, but five at once: a closing soon after an opening does not wait.
        let cost = max(Self.pause, (loop.now.boot - began) * 2)
        nextPassAt = max(nextPassAt, began - Self.pause * 4) + cost
        runPassIfDue()
    }

    private static let pause: Duration = .milliseconds(100)
    private static let attachPause: Duration = .seconds(10)
    /// PID 1 answers within milliseconds, unless it executes itself anew: then the connection breaks.
    private static let timeLimit: Duration = .seconds(10)
}
