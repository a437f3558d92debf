import ArgumentParser
import Decision
import Files
import JSON
import Storage

/// `killswitchctl release SERVICE…`
struct Release: GateOrder {
    static let configuration = CommandConfiguration(
        abstract: "End the order of 'open' or 'close': the flags decide again.",
        discussion: """
            The flags may close the service too: then the units stay down, the command says so, and \
            exits with 0. --wait, the default at a terminal, waits for what the flags decide, also \
            through min_closed and open_spread. Where only the open service will do, type 'killswitchctl wait SERVICE \
            --for up' after it.

            example: killswitchctl release shop --wait
            """)

    @OptionGroup var options: OrderOptions

    @OptionGroup var waiting: GateWaitOptions

    @OptionGroup var services: OrderedServices

    var hasList: Bool { services.isList }

    /// Whether an order is in force, by the files; true if they cannot be read.
    private func isForced(_ service: ServiceName) throws -> Bool {
        let published = try PublishedFiles(options.common)
        return readable { try published.state(of: service)?.object["override"] != .null } ?? true
    }

    func calls() throws -> [OrderCall] {
        let named = try known(services.named)
        let forced = services.isAll ? try named.filter(isForced) : named
        if forced.isEmpty { printError("no service is forced") }
        return forced.map { ("Release", ["service": .string($0.text)]) }
    }

    func lines(_ reply: OrderReply) -> [String] {
        let state = reply.object.object("service")
        let isKept =
            state.text("gate") == Gate.closed.rawValue && reply.object["opensIn"] == .null
            && reply.gate(of: state).whyUnmovedIfObserved == nil
        let effect =
            reply.object["wasForced"]?.bool ?? false
            ? isKept ? "released, but its flags keep it closed" : "released, its flags decide again"
            : "it was not forced, nothing has changed"
        let service = state.text("service")
        return ["\(service): \(effect)"] + reply.serviceLines
    }

    func hasFailed(_ reply: OrderReply) -> Bool { reply.isHeldUp }
}
