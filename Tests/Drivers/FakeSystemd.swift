import CSystemd
import Decision
import EventLoop
import Gates
import Support
import SystemdUnits

/// systemd's manager on a private bus, in the process of the test: it answers calls as it is told, and sends signals.
@safe
final class FakeSystemd {
    struct Unit {
        var active = "active"
        /// What it tells of the unit beside the defaults.
        var properties: [String: BusValue] = [:]
    }

    var units: [String: Unit] = [:]
    /// The units that a job stops with the target that it starts.
    var stops: [String: [String]] = [:]
    /// The target that a job starts with another.
    var wants: [String: String] = [:]
    /// Its answer to each job, if it takes none.
    var refusal: (name: String, message: String)?
    /// A property of which it does not tell.
    var secret: String?
    /// The calls since the last `forget`, without the reads of units.
    private(set) var calls: [String] = []
    /// Whether it has its name on the bus.
    private(set) var isThere = false

    private let loop: EventLoop
    private let address: String
    private var bus: OpaquePointer?
    private var jobs: UInt32 = 0

    /// systemd on no bus yet.
    init(_ loop: EventLoop, address: String) {
        self.loop = loop
        self.address = address
    }

    deinit { unsafe sd_bus_close_unref(bus) }

    /// Connects to the bus, anew after a loss.
    func connect() throws {
        isThere = false
        unsafe sd_bus_close_unref(bus)
        try check(unsafe sd_bus_new(&bus))
        try check(unsafe sd_bus_set_address(bus, address))
        try check(unsafe sd_bus_set_bus_client(bus, 1))
        try check(unsafe sd_bus_start(bus))
        let (bus, userdata) = unsafe (bus, Unmanaged.passUnretained(self).toOpaque())
        try check(unsafe loop.attach { unsafe sd_bus_attach_event(bus, $0, 0) })
        try check(
            unsafe sd_bus_add_fallback(
                bus, nil, Self.manager,
                { call, userdata, _ in
                    guard let call = unsafe call, let userdata = unsafe userdata else { return 0 }
                    unsafe Unmanaged<FakeSystemd>.fromOpaque(userdata).takeUnretainedValue()
                        .answer(call)
                    return 1
                }, userdata))
        try own("org.freedesktop.systemd1")
    }

    func own(_ name: String) throws {
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(
            unsafe sd_bus_request_name_async(
                bus, nil, name, 0,
                { _, userdata, _ in
                    guard let userdata = unsafe userdata else { return 0 }
                    unsafe Unmanaged<FakeSystemd>.fromOpaque(userdata).takeUnretainedValue()
                        .isThere = true
                    return 0
                }, userdata))
    }

    func forget() { calls = [] }

    func change(_ name: String, to active: String) throws {
        units[name, default: Unit()].active = active
        try signal(
            path(name), "org.freedesktop.DBus.Properties", "PropertiesChanged",
            .text("org.freedesktop.systemd1.Unit"),
            .array("{sv}", [.entry("sv", [.text("ActiveState"), .variant(.text(active))])]),
            .array("s", []))
    }

    func reload() throws {
        for isActive in [true, false] {
            try signal(Self.manager, "\(Self.name).Manager", "Reloading", .flag(isActive))
        }
    }

    private static let manager = "/org/freedesktop/systemd1"
    private static let name = "org.freedesktop.systemd1"

    private func path(_ unit: String) -> String {
        UnitName(unit).map { ObjectPath.of($0) } ?? Self.manager
    }

    // MARK: - Calls

    private func answer(_ call: OpaquePointer) {
        let member = unsafe String(cString: sd_bus_message_get_member(call))
        let arguments = unsafe Self.texts(call)
        do {
            switch member {
            case "Subscribe":
                unsafe try reply(to: call)
            case "ListUnitsByPatterns":
                calls.append("list targets")
                unsafe try reply(
                    to: call, rows(of: units.keys.filter { $0.hasPrefix("killswitch-") }))
            case "ListUnitsByNames":
                if arguments.count > 1 { calls.append("list \(arguments.joined(separator: " "))") }
                unsafe try reply(to: call, rows(of: arguments))
            case "StartUnit", "StopUnit":
                calls.append("\(member) \(arguments[0])")
                unsafe try take(call, arguments[0], isStart: member == "StartUnit")
            case "Get" where arguments[1] == secret:
                calls.append("\(arguments[1]) is secret")
                unsafe try refuse(call, "org.freedesktop.DBus.Error.NoReply", "Disconnected")
            case "Get":
                unsafe try reply(to: call, .variant(property(arguments[1], of: call)))
            case "GetUnitProcesses": unsafe try reply(to: call, .array("(sus)", []))
            default: throw TestFailure("systemd was called: \(member)")
            }
        } catch {
            calls.append("\(error)")
        }
    }

    /// Takes a job. It is done at once.
    private func take(_ call: OpaquePointer, _ unit: String, isStart: Bool) throws {
        if let refusal { return unsafe try refuse(call, refusal.name, refusal.message) }
        jobs += 1
        unsafe try reply(to: call, .path("\(Self.manager)/job/\(jobs)"))
        guard isStart else { return try change(unit, to: "inactive") }
        for unit in [wants[unit], unit].compactMap(\.self) {
            for other in stops[unit] ?? [] { try change(other, to: "inactive") }
            try change(unit, to: "active")
        }
    }

    private func refuse(_ call: OpaquePointer, _ name: String, _ message: String) throws {
        try unsafe name.withCString { name in
            try unsafe message.withCString { message in
                var error = unsafe sd_bus_error(name: name, message: message, _need_free: 0)
                try check(unsafe sd_bus_reply_method_error(call, &error))
            }
        }
    }

    private func rows(of names: [String]) -> BusValue {
        .array(
            "(ssssssouso)",
            names.sorted().map { name in
                let unit = units[name]
                return .row(
                    "ssssssouso",
                    [
                        .text(name), .text(""), .text(unit == nil ? "not-found" : "loaded"),
                        .text(unit?.active ?? "inactive"), .text(""), .text(""),
                        .path(path(name)), .number(0), .text(""), .path("/"),
                    ])
            })
    }

    private func property(_ name: String, of call: OpaquePointer) -> BusValue {
        let path = unsafe String(cString: sd_bus_message_get_path(call))
        let unit = ObjectPath.unit(path).flatMap { units[$0.text] }
        return unit?.properties[name] ?? Self.defaults[name] ?? .long(0)
    }

    private static let defaults: [String: BusValue] = [
        "SystemState": .text("running"), "Type": .text("simple"), "Result": .text("success"),
        "KillMode": .text("control-group"), "AssertResult": .flag(true),
        "RequisiteOf": .array("s", []), "Wants": .array("s", []),
        "TimeoutStopUSec": .long(10_000_000), "TimeoutStartUSec": .long(10_000_000),
    ]

    // MARK: - Messages

    private func reply(to call: OpaquePointer, _ values: BusValue...) throws {
        var message: OpaquePointer?
        try check(unsafe sd_bus_message_new_method_return(call, &message))
        unsafe try send(message, values)
    }

    private func signal(
        _ path: String, _ interface: String, _ member: String, _ values: BusValue...
    ) throws {
        var message: OpaquePointer?
        try check(unsafe sd_bus_message_new_signal(bus, &message, path, interface, member))
        unsafe try send(message, values)
    }

    private func send(_ message: OpaquePointer?, _ values: [BusValue]) throws {
        defer { unsafe sd_bus_message_unref(message) }
        for value in values { try check(unsafe value.append(to: message)) }
        try check(unsafe sd_bus_send(bus, message, nil))
    }

    private static func texts(_ call: OpaquePointer) -> [String] {
        var texts: [String] = []
        while unsafe sd_bus_message_at_end(call, 1) == 0 {
            let isArray = unsafe sd_bus_message_enter_container(call, letter("a"), "s") > 0
            var text: UnsafePointer<CChar>?
            while unsafe sd_bus_message_read_basic(call, letter("s"), &text) > 0 {
                if let text = unsafe text { unsafe texts.append(String(cString: text)) }
            }
            if isArray { unsafe sd_bus_message_exit_container(call) }
        }
        return texts
    }

    private func check(_ result: Int32) throws {
        if result < 0 { throw TestFailure("systemd on the private bus: errno \(-result)") }
    }
}

enum BusValue: Sendable {
    case text(String)
    case path(String)
    case number(UInt32)
    case long(UInt64)
    case flag(Bool)
    case array(String, [BusValue])
    case row(String, [BusValue])
    case entry(String, [BusValue])
    indirect case variant(BusValue)

    /// Its type, as D-Bus writes it.
    private var signature: String {
        switch self {
        case .text: "s"
        case .path: "o"
        case .number: "u"
        case .long: "t"
        case .flag: "b"
        case .array(let contents, _): "a\(contents)"
        case .row(let contents, _): "(\(contents))"
        case .entry(let contents, _): "{\(contents)}"
        case .variant: "v"
        }
    }

    /// Appends it to a message; a negative number if that fails.
    func append(to message: OpaquePointer?) -> Int32 {
        switch self {
        case .text(let text), .path(let text):
            unsafe sd_bus_message_append_basic(message, letter(signature), text)
        case .number(var number): unsafe sd_bus_message_append_basic(message, letter("u"), &number)
        case .long(var number): unsafe sd_bus_message_append_basic(message, letter("t"), &number)
        case .flag(let flag): unsafe Self.append(flag ? 1 : 0, to: message)
        case .array(let contents, let values):
            unsafe Self.append(values, in: "a", contents, to: message)
        case .row(let contents, let values):
            unsafe Self.append(values, in: "r", contents, to: message)
        case .entry(let contents, let values):
            unsafe Self.append(values, in: "e", contents, to: message)
        case .variant(let value):
            unsafe Self.append([value], in: "v", value.signature, to: message)
        }
    }

    private static func append(_ flag: Int32, to message: OpaquePointer?) -> Int32 {
        var flag = flag
        return unsafe sd_bus_message_append_basic(message, letter("b"), &flag)
    }

    private static func append(
        _ values: [BusValue], in container: String, _ contents: String, to message: OpaquePointer?
    ) -> Int32 {
        var result = unsafe sd_bus_message_open_container(message, letter(container), contents)
        for value in values where result >= 0 { result = unsafe value.append(to: message) }
        return result < 0 ? result : unsafe sd_bus_message_close_container(message)
    }
}

private func letter(_ text: String) -> CChar { text.utf8CString[0] }
