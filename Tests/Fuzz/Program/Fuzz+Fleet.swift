import CivilTime
import Decision
import Fleet
import Guards
import JSON
import Metrics
import Reports

/// What `killswitchctl fleet` reads. The main rule of each target: no host has obeyed without its evidence.
extension Fuzz {
    private static let now = Instant(seconds: 1_800_000_000)
    private static let day: Duration = .seconds(86_400)

    static func prometheus(_ bytes: [UInt8]) -> Bool {
        _ = PrometheusAnswer.start(in: bytes)
        holdClause(PrometheusAnswer.refusal(status: 503, body: bytes).description)
        let answer: PrometheusAnswer
        do {
            answer = try PrometheusAnswer(bytes)
        } catch {
            holdClause("\(error)")
            return false
        }
        for part in beginnings(of: bytes) {
            hold(accepted { try PrometheusAnswer(part) } == nil, "a part of an answer is none")
        }
        let obeyed = obeyed(answer.findings(startedAt: nil))
        guard !obeyed.isEmpty, let all = accepted({ try JSON.Value.parse(bytes) }),
            let samples = all.object?["data"]?.object?["result"]?.array,
            let time = samples.first?.object?["value"]?.array?.first?.number?.double
        else { return true }
        for account in obeyed {
            let age = account.at.map { time - Double($0.microseconds) / 1_000_000 }
            hold(age.map { (-121...181).contains($0) } == true, "who has obeyed lives")
        }
        let started = Instant(microseconds: Int64((time + 61) * 1_000_000))
        hold(self.obeyed(answer.findings(startedAt: started)).isEmpty, "older than Prometheus")
        // One sample less, wherever it is.
        for name in evidence {
            let rest = samples.filter { !($0.has(label: name)) }
            let less = all.setting("data", to: all["data"].setting("result", to: .array(rest)))
            let other = accepted { try PrometheusAnswer(less.serializedBytes()) }
            let findings = other?.findings(startedAt: nil) ?? []
            hold(self.obeyed(findings).isEmpty, "without '\(name)' no host has obeyed")
        }
        return true
    }

    /// What a guard makes of an answer.
    static func guardAnswer(_ bytes: [UInt8]) -> Bool {
        if case .holds(let cause) = GuardAnswer(prometheus: bytes) {
            holdClause(cause)
            return false
        }
        for part in beginnings(of: bytes) {
            hold(GuardAnswer(prometheus: part) != .passes, "a part of an answer does not pass")
        }
        let warned = accepted { try JSON.Value.parse(bytes) }?
            .setting("warnings", to: .array([.string("a part")])).serializedBytes()
        hold(
            warned.map(GuardAnswer.init(prometheus:)) != .passes, "a part of the data does not pass"
        )
        return true
    }

    /// The samples that show a decision, its effect, and that they are new.
    private static let evidence =
        [Metric.serviceState, .gateWantedOpen, .gateOpen, .unitsUnwanted, .movesGates, .alive].map(
            \.name) + ["scraped"]

    /// The body of a report, or a brief.
    static func reports(_ bytes: [UInt8]) -> Bool {
        func findings(_ body: [UInt8], at time: Instant = now) -> [HostFinding] {
            var documents = FleetDocuments(about: shop, at: time)
            // A sign of life beside other bytes says nothing.
            documents.add(body, of: "a", sign: SignOfLife(at: time, of: bytes + [0x20]))
            return documents.findings
        }
        let found = findings(bytes)
        hold(found.count <= 1, "a report is of one host")
        let areObeyed = !obeyed(found).isEmpty
        guard areObeyed, let all = accepted({ try JSON.Value.parse(bytes) }),
            let services = all["services"].array
        else { return found.contains { $0.account != nil } }
        for part in beginnings(of: bytes) {
            hold(obeyed(findings(part)).isEmpty, "a part of a report is none")
        }
        hold(obeyed(findings(bytes, at: now + day)).isEmpty, "an old report says nothing")
        hold(obeyed(findings(bytes, at: now - day)).isEmpty, "a report of tomorrow says nothing")
        func holdNot(_ changed: JSON.Value, _ what: String) {
            hold(obeyed(findings(changed.serializedBytes())).isEmpty, "not \(what)")
        }
        let others: [(String, JSON.Value)] = [
            ("gate", .null), ("actual", "closing"), ("status", "applying"), ("status", "failed"),
            ("units_unwanted", 1), ("state", .null),
        ]
        for (name, value) in others {
            let changed = services.map { $0.setting(name, to: value) }
            holdNot(all.setting("services", to: .array(changed)), name)
        }
        holdNot(all.setting("services", to: .array(services + services)), "twice the service")
        holdNot(all.setting("moves_gates", to: .bool(false)), "moves_gates")
        return true
    }

    static func inventory(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        let inventory: Inventory
        do {
            inventory = try Inventory(text)
        } catch {
            holdClause(error.description)
            return false
        }
        let names = inventory.names
        hold(names.allSatisfy { 1...260 ~= $0.utf8.count }, "a name is short, and not empty")
        let again = accepted { try Inventory(names.joined(separator: "\n")) }
        hold(again?.names == names, "the names are the same")
        let windows = bytes.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
        let same = accepted { try Inventory(String(decoding: windows, as: UTF8.self)) }
        hold(same == inventory, "so they are on Windows")
        let rows = RollCall([], Demand(.gate(.closed)), inventory).rows
        hold(Set(rows.map(\.host.name)) == names, "each name has a row")
        hold(rows.allSatisfy { $0.obedience.word == "silent" }, "of whom nothing is known")
        return true
    }

    static let shop: ServiceName = {
        guard let name = ServiceName("shop") else { preconditionFailure("no name") }
        return name
    }()

    /// What the hosts tell that have obeyed an order to close or to open, in a table that terminals can show.
    private static func obeyed(_ findings: [HostFinding]) -> [HostAccount] {
        let own = RollCall(findings, Demand(.own)).rows.filter { $0.obedience == .obeyed }
        for account in own.compactMap(\.account) {
            hold(
                account.effect == .complete || account.effect == .withoutGates
                    || account.effect == .observed, "the effect is there")
            hold(account.obstacle == nil && account.warning == nil, "nothing is in the way")
        }
        return [Gate.closed, .open].flatMap { gate in
            let rows = RollCall(findings, Demand(.effect(gate))).rows
            hold(rows.count == findings.count, "each host has a row")
            for row in rows {
                hold(row.host.name.isShown(atMost: 129), "a name is short and printable")
                if let why = row.obedience.why { holdClause(why) }
            }
            return rows.filter { $0.obedience == .obeyed }.compactMap(\.account)
        }
    }

    private static func holdClause(_ text: String) {
        hold(text.isShown(atMost: 1000), "a clause is short and printable: \(text)")
    }

    /// Parts of a document, as a transfer leaves them that breaks off: without its last brace, and shorter.
    private static func beginnings(of bytes: [UInt8]) -> [[UInt8]] {
        let end = bytes.lastIndex { !" \r\n\t".utf8.contains($0) } ?? bytes.startIndex
        return [end, end / 4 * 3, end / 2].map { Array(bytes[..<$0]) }
    }
}

extension String {
    fileprivate func isShown(atMost count: Int) -> Bool {
        unicodeScalars.count <= count && unicodeScalars.allSatisfy(\.isPrintable)
    }
}

extension JSON.Value {
    /// A member; null without it.
    fileprivate subscript(_ name: String) -> JSON.Value { object?[name] ?? .null }

    /// The object with another member; another value stays as it is.
    fileprivate func setting(_ name: String, to value: JSON.Value) -> JSON.Value {
        guard var object else { return self }
        object[name] = value
        return .object(object)
    }

    /// Whether a sample of Prometheus has a label with this value.
    fileprivate func has(label value: String) -> Bool {
        self["metric"].object?.members.contains { $0.value.string == value } == true
    }
}
