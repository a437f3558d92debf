import Decision

extension Policy {
    /// Ten years: past the life of the host.
    private static let staleAges: ClosedRange<Duration> = .seconds(1) ... .seconds(3650 * 86_400)
    /// systemd gives up on a start after the unit's own limit, which this extends.
    private static let firstTimeouts: ClosedRange<Duration> = .zero ... .seconds(3_600)
    private static let confirmations = 1...100
    private static let closedTimes: ClosedRange<Duration> = .zero ... .seconds(86_400)

    /// Reads the keys of a service that say what happens without flags. What is not written is as in
    /// `Policy()`.
    init(from reader: TableReader, _ report: inout Report) {
        self.init()
        maxStale = reader.value(
            ServiceKey.maxStale, .durationOrNever(in: Self.staleAges), default: maxStale, &report)
        whenStale = reader.value(ServiceKey.whenStale, .word, default: whenStale, &report)
        whenUnknown = reader.value(ServiceKey.whenUnknown, .word, default: whenUnknown, &report)
        firstTimeout = reader.value(
            ServiceKey.firstTimeout, .duration(in: Self.firstTimeouts), default: firstTimeout,
            &report)
        atEnd = reader.value(ServiceKey.atEnd, .word, default: atEnd, &report)
        updateRequired = reader.value(
            ServiceKey.updateRequired, .word, default: updateRequired, &report)
        minClosed = reader.value(
            ServiceKey.minClosed, .duration(in: Self.closedTimes), default: minClosed, &report)
        confirmClose = reader.value(
            ServiceKey.confirmClose, .count(in: Self.confirmations), default: confirmClose, &report)
        confirmOpen = reader.value(
            ServiceKey.confirmOpen, .count(in: Self.confirmations), default: confirmOpen, &report)
    }
}
