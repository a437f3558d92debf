import CivilTime
import Configuration

extension Zones {
    /// Zones by name, all of them UTC: the tests are about the names.
    static var known: Zones {
        Zones(
            Files(
                system: { (.utc, []) },
                named: { name in
                    guard name != "Broken/Zone" else { throw BrokenZone() }
                    return names.contains(name) ? (.utc, []) : nil
                },
                names: { names }))
    }

    private static let names = ["UTC", "Europe/Berlin", "Asia/Tokyo"]

    private struct BrokenZone: Error, CustomStringConvertible {
        let description = "the file is cut short"
    }
}

let file = "/etc/killswitchd/killswitchd.toml"

func load(_ text: String, file: String = file) throws(ConfigurationError) -> Settings {
    try load(Array(text.utf8), file: file)
}

func load(_ bytes: [UInt8], file: String = file) throws(ConfigurationError) -> Settings {
    try Settings(files: [(file, bytes)], zones: .known)
}

/// The errors in a file `f`, as they are printed; empty without errors.
func errors(in text: String) -> String { errors(in: Array(text.utf8)) }

func errors(in bytes: [UInt8]) -> String {
    do {
        _ = try load(bytes, file: "f")
        return ""
    } catch {
        return error.description
    }
}

/// A service without a mistake, for files whose subject is another table.
let shopTable = """
    [service.shop]
    source = "file:/a"
    format = "status"
    """
