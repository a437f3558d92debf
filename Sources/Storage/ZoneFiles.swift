package import CivilTime
import Files

/// The system's time zones: TZif files by name, and the zone that the system is set to.
package enum ZoneFiles {
    /// Why a zone cannot be loaded.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description: String
    }

    /// The zone of this name, such as `Asia/Tokyo`.
    package static func zone(named name: String) throws(Unavailable) -> Zone {
        guard isName(name) else {
            throw Unavailable(description: "it is not the name of a time zone")
        }
        return try zone(in: "\(folder)/\(name)", named: name)
    }

    /// The system's own zone, by `/etc/localtime`; UTC if that is missing (localtime(5)).
    package static func system() throws(Unavailable) -> Zone {
        try zone(in: "/etc/localtime", named: "localtime", ifMissing: .utc)
    }

    /// Whether a zone of this name exists, readable or not.
    package static func exists(_ name: String) -> Bool {
        readable { try isName(name) && File.exists("\(folder)/\(name)") } ?? true
    }

    /// The names of all zones, for suggestions; empty without tzdata's list.
    package static func names() -> [String] {
        let table: [UInt8]
        do { table = try File.read("\(folder)/tzdata.zi", limit: sizeLimit) } catch { return [] }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").compactMap {
            let words = $0.split(separator: " ")
            switch words.first {
            case "Z": return words.count > 1 ? String(words[1]) : nil
            case "L": return words.count > 2 ? String(words[2]) : nil
            default: return nil
            }
        }
    }

    private static let folder = "/usr/share/zoneinfo"
    private static let sizeLimit = 1 << 20

    private static func zone(
        in path: String, named name: String, ifMissing other: Zone? = nil
    ) throws(Unavailable) -> Zone {
        do {
            if let other, try !File.exists(path) { return other }
            return try Zone(name: name, tzif: try File.read(path, limit: sizeLimit))
        } catch let error as TimeError {
            throw Unavailable(description: "'\(path)': \(error)")
        } catch {
            throw Unavailable(description: "\(error)")
        }
    }

    /// Whether a name is a path that stays below the folder.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && $0 != "." && $0 != ".."
            }
    }
}
