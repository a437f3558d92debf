package import Decision
package import Files
package import Gates
import Glibc

/// The daemon's files as root's mover reads them: as hostile input. Names follow the rule of names, no link is
/// followed, nothing is waited for, and sizes are bounded. What cannot be used is said once, without its content, and
/// keeps nothing else from being read.
package final class OrderFiles {
    private let folder: String
    private let log: (String) -> Void
    /// The services whose file cannot be used.
    private var unusable: Set<ServiceName> = []

    package init(_ folder: String, log: @escaping (String) -> Void) {
        self.folder = folder
        self.log = log
    }

    /// The services that have a folder.
    package func services() throws(FileError) -> [ServiceName] {
        guard let names = try File.ifThere(Directory.list(folder)) else { return [] }
        return Array(
            names.compactMap { ServiceName.isReserved($0) ? nil : ServiceName($0) }
                .prefix(Self.mostServices))
    }

    /// What is to be brought about for a service; nil for nothing.
    package func orders(of service: ServiceName) -> TargetOrders? {
        do {
            let bytes = try File.read(
                TargetOrders.fileName, of: "\(folder)/\(service)", limit: TargetOrders.limit)
            guard let orders = TargetOrders(bytes, of: service) else {
                refuse(service, "it is not what killswitchd writes")
                return nil
            }
            unusable.remove(service)
            return orders
        } catch  where error.isNotFound {
            return closedMarker(of: service)
        } catch {
            refuse(service, "\(error.cause)")
            return nil
        }
    }

    /// The marker `closed` alone stands for a closing that could not be written: a closing needs no room.
    private func closedMarker(of service: ServiceName) -> TargetOrders? {
        guard attachNumber != nil,
            readable({
                try File.attributes(
                    of: "\(folder)/\(service)/\(Gate.closed.rawValue)", followingLinks: false)
            })?.kind == .regular
        else { return nil }
        return TargetOrders([.init(.start(GateTarget(service: service, kind: .closed)))])
    }

    /// The number of the last request to attach the units of the configuration, 0 before the first; nil if no daemon
    /// has its gates moved.
    var attachNumber: UInt64? {
        readable {
            try File.read(TargetOrders.attachFileName, of: folder, isTrusted: true, limit: 32)
        }
        .flatMap { UInt64(String(decoding: $0, as: UTF8.self).dropLast()) }
    }

    private func refuse(_ service: ServiceName, _ reason: String) {
        guard unusable.insert(service).inserted else { return }
        log(
            "the targets of service '\(service)' stay as they are: \(TargetOrders.fileName): \(reason)"
        )
    }

    private static let mostServices = 16_384
}

/// The socket on which the daemon asks for a look: a number in a datagram.
struct RequestSocket {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The number in the last datagram that waits, and drops the others; nil without one. What is no number counts as
    /// 0.
    func newest() -> UInt64? {
        var buffer = [UInt8](repeating: 0, count: 32)
        var newest: UInt64?
        // As many as the queue of a socket holds: whoever goes on sending does not keep the mover here.
        for _ in 0..<1024 {
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count >= 0 else { break }
            newest = UInt64(String(decoding: buffer.prefix(count), as: UTF8.self)) ?? 0
        }
        return newest
    }
}
