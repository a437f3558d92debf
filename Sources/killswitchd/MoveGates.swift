import CSystemd
import CivilTime
import Decision
import EventLoop
import Files
import Storage
import Systemd
import SystemdUnits

/// `killswitchd --move-gates`, the program of killswitchd-gates.service.
enum MoveGates {
    /// Moves gates until a signal ends it.
    static func run(_ options: Options, _ log: Log) throws -> Int32 {
        let environment = NotifyEnvironment.readAndUnset()
        guard sd_listen_fds(1) == 1 else {
            throw UsageError(
                message: "--move-gates is for killswitchd-gates.service: it needs the socket of "
                    + "killswitchd-gates.socket")
        }
        // Not that of the environment, which is this program's own and not the daemon's.
        let runtime = try File.absolute(options.runtimeDirectory ?? Directories.system)
        let loop = try EventLoop()
        try log.retry(on: loop)
        let mover = try Mover(
            loop, requests: SD_LISTEN_FDS_START, runtime: runtime,
            record: MoverPlaces.record(beside: runtime)
        ) { log.write(.error, $0) }
        let life = try Life(of: loop, by: environment)
        return try withExtendedLifetime((mover, life)) { try loop.run() }
    }

    /// Tells the service manager that the loop goes on.
    private final class Life {
        private let socket: NotifySocket
        private let interval: Duration
        private var timer: Timer?

        init?(of loop: EventLoop, by environment: NotifyEnvironment) throws {
            guard let address = environment.socket, let limit = environment.watchdog else {
                return nil
            }
            socket = try NotifySocket(address)
            interval = limit / 3
            timer = try Timer(loop, accuracy: .seconds(1)) { [unowned self] in beat(loop) }
            beat(loop)
        }

        private func beat(_ loop: EventLoop) {
            // What the service manager does not take now it gets the next time.
            do { try socket.send([.watchdog]) } catch {}
            timer?.set(at: loop.now.boot + interval)
        }
    }
}
