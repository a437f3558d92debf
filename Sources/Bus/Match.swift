import CSystemd

/// A subscription to signals, for as long as this object lives.
@safe
package final class Match {
    private var slot: OpaquePointer?
    private let handler: (Message) -> Void

    /// `rule` is a match rule of the D-Bus specification. A rule that the bus refuses breaks the
    /// connection.
    package init(
        _ bus: Bus, _ rule: String, handler: @escaping (Message) -> Void
    ) throws(BusError) {
        self.handler = handler
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(
            "follow signals on the bus",
            unsafe bus.withPointer { pointer in
                unsafe sd_bus_add_match_async(
                    pointer, &slot, rule,
                    { message, userdata, _ in unsafe Match.deliver(message, to: userdata) }, nil,
                    userdata)
            })
    }

    deinit { unsafe sd_bus_slot_unref(slot) }

    private static func deliver(
        _ message: OpaquePointer?, to userdata: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let userdata = unsafe userdata, let message = unsafe message else { return 0 }
        let match = unsafe Unmanaged<Match>.fromOpaque(userdata).takeUnretainedValue()
        withExtendedLifetime(match) { unsafe match.handler(Message(message)) }
        return 0
    }
}
