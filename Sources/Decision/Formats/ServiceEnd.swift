import CivilTime
import JSON

/// The format `service-end`: one word that lets a service run, count down or end, and a date.
enum ServiceEnd {
    /// `"no"` runs and `"countdown"` counts down; *every* other text ends the service, the empty one
    /// included, for that is how the applications that share these flags read them.
    static func read(
        _ flags: JSON.Object, endKeys: [String], countdownKey: String, zone: Zone
    ) throws(InvalidFlag) -> Reading {
        let key = endKeys.first { flags[$0] != nil } ?? endKeys.first ?? "service_end"
        let word = try flags.string(key)
        if isSame(word, "no") { return Reading(claims: [.running]) }
        guard isSame(word, "countdown") else { return Reading(claims: [.ended]) }
        return Reading(claims: [.countdown(end(try flags.string(countdownKey), in: zone))])
    }

    private static func end(_ text: String, in zone: Zone) -> End {
        do {
            return .at(try Timestamp.parse(text).instant(in: zone))
        } catch {
            return .unreadable(text)
        }
    }

    /// Swift's `==` is canonical equivalence; an order is compared to the byte.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}
