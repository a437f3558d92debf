package import CivilTime
import Files

/// The system's time zones: TZif files by name, and the zone that the system is set to.
package enum ZoneFiles {
    /// Why a zone cannot be loaded.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description: String
    }

    /// A zone, and the bytes of its file.
    package typealias Content = (zone: Zone, bytes: [UInt8])

    /// The zone of this name, such as `Asia/Tokyo`.
    package static func content(named name: String) throws(Unavailable) -> Content {
        guard isName(name) else {
            throw Unavailable(description: "it is not the name of a time zone")
        }
        return try content(of: "\(folder)/\(name)", named: name)
    }

    /// The system's own zone, by `/etc/localtime`; UTC if there is nothing of that name (localtime(5)).
    ///
    /// A link that leads nowhere is no such case: somebody has set a zone, and its file has gone.
    package static func system() throws(Unavailable) -> Content {
        let link = readable { try File.attributes(of: localtime, followingLinks: false) }
        if link == nil, readable({ try File.exists(localtime) }) == false { return (.utc, []) }
        if link?.kind == .symbolicLink, readable({ try File.exists(localtime) }) == false {
            let target = readable { try SymbolicLink.target(of: localtime) } ?? "?"
            throw Unavailable(
                description: "'\(localtime)' is a link to '\(target)', where no file is")
        }
        return try content(of: localtime, named: "localtime")
    }

    /// The system's own zone, or an unknown one: for times that are shown, and for dates that are then held.
    package static var local: Zone { readable { try system().zone } ?? .unknown("localtime") }

    /// Reads the bytes of a zone that were stored earlier; nil if they are not those of a zone.
    package static func zone(named name: String, stored bytes: [UInt8]) -> Zone? {
        bytes.count <= sizeLimit ? readable { try Zone(name: name, tzif: bytes) } : nil
    }

    /// The file of the system's zone. No zone has this name.
    package static let localtime = "/etc/localtime"

    /// The path of the file of a zone.
    package static func path(of name: String) -> String { "\(folder)/\(name)" }

    /// Whether a zone of this name exists, readable or not.
    package static func exists(_ name: String) -> Bool {
        readable { try isName(name) && File.exists(path(of: name)) } ?? true
    }

    /// The names of all zones, for suggestions; empty without tzdata's list.
    package static func names() -> [String] { table().map(\.name) }

    /// The package that brings the file of a zone; nil for a name that nobody knows.
    ///
    /// Debian has old names, which tzdata's list has as links, in a package of their own.
    package static func missingPackage(for name: String) -> String? {
        if let entry = table().first(where: { $0.name == name }) {
            return entry.isLink
                ? "'tzdata-legacy', or 'tzdata' where there is no such package" : "'tzdata'"
        }
        return exists("UTC") || exists("tzdata.zi") ? nil : "'tzdata'"
    }

    /// The package that brings the file of the zone that `/etc/localtime` links to; nil if no package does.
    package static func missingPackageForSystem() -> String? {
        let target = readable { try SymbolicLink.target(of: localtime) } ?? ""
        let parts = target.split(separator: "/", omittingEmptySubsequences: false)
        guard let place = parts.firstIndex(of: "zoneinfo") else { return nil }
        let name = parts[(place + 1)...].joined(separator: "/")
        return exists(name) ? nil : missingPackage(for: name)
    }

    /// The names in tzdata's list, and which of them are links.
    private static func table() -> [(name: String, isLink: Bool)] {
        let table: [UInt8]
        do { table = try File.read("\(folder)/tzdata.zi", limit: 1 << 20) } catch { return [] }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").compactMap {
            let words = $0.split(separator: " ")
            switch words.first {
            case "Z": return words.count > 1 ? (String(words[1]), false) : nil
            case "L": return words.count > 2 ? (String(words[2]), true) : nil
            default: return nil
            }
        }
    }

    private static let folder = "/usr/share/zoneinfo"
    /// The largest files of the database have 4 KB.
    private static let sizeLimit = 64 << 10

    private static func content(
        of path: String, named name: String
    ) throws(Unavailable) -> Content {
        do {
            let bytes = try File.read(path, limit: sizeLimit)
            return (try Zone(name: name, tzif: bytes), bytes)
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
