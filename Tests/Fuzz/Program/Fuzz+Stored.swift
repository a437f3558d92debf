import CivilTime
import Decision
import Gates
import JSON

@testable import Storage

/// Files of this host: time zones, and what earlier runs have stored.
extension Fuzz {
    static func timeZone(_ bytes: [UInt8]) -> Bool {
        guard let zone = accepted({ try Zone(name: "Fuzz/Zone", tzif: bytes) }) else {
            return false
        }
        for seconds: Int64 in [-3_000_000_000, 0, 1_800_000_000, 4_000_000_000] {
            let time = Instant(seconds: seconds)
            let text = zone.rfc3339(time)
            hold(accepted { try Instant(rfc3339: text) } == time, "\(text) is the same time")
            hold(zone.calendarDays(from: time, to: time) == 0, "no day from now to now")
            let next = zone.startOfNextDay(after: time)
            hold(next > time, "the next day is later")
            // Clocks may jump back over midnight: then it is the day before.
            hold(zone.calendarDays(from: time, to: next) != 0, "the next day is another day")
        }
        return true
    }

    /// What root's mover reads of a daemon that may be in foreign hands, and asks of systemd by it.
    static func targets(_ bytes: [UInt8]) -> Bool {
        guard let orders = TargetOrders(bytes, of: Self.shop) else { return false }
        hold(Array(orders.text.utf8) == bytes, "what was read is written as the same")
        for job in orders.due([:], MoverRecord()) {
            hold(job.target.service == Self.shop, "no other service is moved")
            let unit = job.target.unit?.text ?? ""
            hold(unit.hasPrefix("killswitch-") && unit.hasSuffix(".target"), "\(unit) is a target")
            hold(unit.contains("@shop.target") || unit.contains("@shop:"), "\(unit) is the shop's")
        }
        return true
    }

    static func storedFlags(_ bytes: [UInt8]) -> Bool {
        isRestored(bytes, { StoredFlags.bytes(of: $0, fingerprint: "file:/x") }) { file in
            let answers = try StoredFlags.answers(in: file, isBound: { $0 == "file:/x" })
            hold(answers?.isEmpty != true, "flags have an answer")
            return answers
        }
    }

    /// Each of the other documents of the state directory.
    static func storedState(_ bytes: [UInt8]) -> Bool {
        let areRestored = [
            isRestored(bytes, StoredLedger.bytes, document(StoredLedger.ledger)),
            isRestored(bytes, StoredOverrides.bytes, document(StoredOverrides.overrides)),
            isRestored(
                bytes, StoredConfiguration.bytes, document(StoredConfiguration.configuration)),
            isVersionRestored(bytes),
        ]
        return areRestored.contains(true)
    }

    private static func document<Value>(
        _ content: @escaping (JSON.Object) throws -> Value?
    ) -> ([UInt8]) throws -> Value? {
        { try StoredForm.read($0, content) }
    }

    /// Whether a document can be read. If so, what is written of it can be read, and written as the same.
    private static func isRestored<Value>(
        _ bytes: [UInt8], _ write: (Value) -> [UInt8], _ read: ([UInt8]) throws -> Value?
    ) -> Bool {
        func restored(_ bytes: [UInt8]) -> Value? { accepted { try read(bytes) } ?? nil }
        guard let value = restored(bytes) else { return false }
        let written = write(value)
        hold(restored(written).map(write) == written, "what was read is stored as the same")
        return true
    }

    /// The file of the highest version, whose first copy begins with these bytes.
    private static func isVersionRestored(_ bytes: [UInt8]) -> Bool {
        let copy = bytes.prefix(StoredVersion.size / 2)
        let file = copy + [UInt8](repeating: 0, count: StoredVersion.size - copy.count)
        guard let version = accepted({ try StoredVersion.version(in: Array(file)) }) ?? nil else {
            return false
        }
        let again = accepted { try StoredVersion.version(in: StoredVersion.bytes(of: version)) }
        hold(again == version, "the version is the same")
        return true
    }
}
