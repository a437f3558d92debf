/// Drives a state machine: the queue of its events, and the turns of the loop in which they are handled.
///
/// The owner hands each event to its machine and performs the effects. An event is only queued, in an effect too,
/// so that no effect calls the machine. A member of a package is inlined only if its type is usable from inline too.
@usableFromInline
package final class MachineDriver<Event> {
    private let loop: EventLoop
    @usableFromInline var events: [Event] = []
    /// How many of `events` were handled.
    @usableFromInline var handled = 0
    @usableFromInline var isInTurn = false
    private var deferred: Deferred?

    /// A driver that queues events until it is started.
    package init(on loop: EventLoop) { self.loop = loop }

    /// Has the loop call `turn` when events are queued, and again if it leaves some.
    package func start(turn: @escaping () -> Void) {
        deferred = Deferred(loop) { [unowned self] in
            isInTurn = true
            turn()
            isInTurn = false
            if !isEmpty { requestTurn() }
        }
        if !isEmpty { requestTurn() }
    }

    /// Ends the turns. Events are queued still.
    package func stop() { deferred = nil }

    /// Whether every event was handled, or is being handled.
    @inlinable package var isEmpty: Bool { handled == events.count }

    /// Queues an event.
    @inlinable package func post(_ event: Event) {
        events.append(event)
        if !isInTurn { requestTurn() }
    }

    /// Has another turn come, also without an event.
    @usableFromInline package func requestTurn() { deferred?.arm() }

    /// Hands over the queued events in their order, up to a limit, and while `mayGoOn` says that there is time.
    @inlinable package func handleEvents(
        atMost limit: Int = 1000, while mayGoOn: () -> Bool = { true },
        by handle: (Event) throws -> Void
    ) rethrows {
        defer {
            if isEmpty {
                // A burst leaves no memory behind.
                events.removeAll(keepingCapacity: events.capacity <= limit)
            } else {
                events.removeFirst(handled)
            }
            handled = 0
        }
        while handled < events.count, handled < limit {
            let event = events[handled]
            handled += 1
            try handle(event)
            if !isEmpty, !mayGoOn() { return }
        }
    }

    /// Drops the queued events that are `obsolete`.
    package func removeAll(where obsolete: (Event) -> Bool) {
        let others = events[handled...].filter { !obsolete($0) }
        events.replaceSubrange(handled..., with: others)
    }
}
