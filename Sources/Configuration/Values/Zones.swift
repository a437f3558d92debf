import CivilTime
import Decision
package import Storage

/// A supply of time zones: the files of the system, or a list in a test. Each is read once.
///
/// A zone that cannot be read keeps what was stored of it with the last accepted configuration. A zone of which nothing
/// is known is an error of a new configuration, and never of one that was accepted before.
package final class Zones {
    /// A zone for services, and what is wrong with its file.
    struct Entry {
        let zone: Zone
        var problem: ZoneProblem?
    }

    /// The files of the system, or what stands for them in a test.
    package struct Files {
        /// The zone of services that name none. Throws if its file is there and cannot be used.
        package var system: () throws -> ZoneFiles.Content
        /// The zone of an IANA name; nil without such a file. Throws if the file is there and cannot be used.
        package var named: (String) throws -> ZoneFiles.Content?
        /// The known names, for "did you mean".
        package var names: () -> [String]
        /// The package with the file of a zone, of the system's zone for nil; nil if no package has it.
        package var package: (String?) -> String? = { _ in nil }

        package init(
            system: @escaping () throws -> ZoneFiles.Content,
            named: @escaping (String) throws -> ZoneFiles.Content?,
            names: @escaping () -> [String]
        ) {
            (self.system, self.named, self.names) = (system, named, names)
        }
    }

    private let files: Files
    /// The data of zones that is stored with the last accepted configuration: read if a file cannot be.
    private let readStored: () -> [StateDirectory.StoredZone]
    private let wasAccepted: Bool
    private var entries: [String: Entry] = [:]
    /// The data of the zones that were asked for, as far as it is known.
    private(set) var data: [StateDirectory.StoredZone] = []

    /// Zones of these files, and of stored data in their place. `wasAccepted`: the configuration was accepted before.
    package init(
        _ files: Files, stored: @escaping () -> [StateDirectory.StoredZone] = { [] },
        wasAccepted: Bool = false
    ) {
        (self.files, readStored, self.wasAccepted) = (files, stored, wasAccepted)
    }

    /// The zone of services that name none.
    var system: Entry {
        entry(of: ZoneFiles.localtime) {
            let cause: String
            do {
                let content = try files.system()
                return (Entry(zone: content.zone), content.bytes)
            } catch {
                cause = "\(error)"
            }
            let advice =
                files.package(nil).map { "install the package \($0)" }
                ?? "type 'timedatectl set-timezone ZONE', or set 'time_zone' in the service"
            return replacement(
                for: "localtime", ZoneFiles.localtime,
                "the time zone of the system cannot be read: \(cause)", advice)
                ?? (Entry(zone: .unknown("localtime")), [])
        } ?? Entry(zone: .unknown("localtime"))
    }

    /// The zone of an IANA name; nil without such a zone. Throws if its file is damaged and nothing is stored of it.
    fileprivate func zone(named name: String) throws -> Entry? {
        try entry(of: name) {
            let failure: (any Error)?
            do {
                if let content = try files.named(name) {
                    return (Entry(zone: content.zone), content.bytes)
                }
                failure = nil
            } catch {
                failure = error
            }
            let cause = failure.map { "\($0)" } ?? "there is no '\(ZoneFiles.path(of: name))'"
            let known = replacement(
                for: name, name, "the time zone \(name.quoted) cannot be read: \(cause)",
                "install the package \(files.package(name) ?? "'tzdata'")")
            if let known { return known }
            if let failure { throw failure }
            return nil
        }
    }

    private func entry(
        of key: String, _ read: () throws -> (Entry, [UInt8])?
    ) rethrows -> Entry? {
        if let known = entries[key] { return known }
        guard let (entry, bytes) = try read() else { return nil }
        entries[key] = entry
        if !bytes.isEmpty { data.append((key, bytes)) }
        return entry
    }

    /// What counts in place of a file that cannot be read; nil if that is an error.
    private func replacement(
        for name: String, _ key: String, _ problem: String, _ advice: String
    ) -> (Entry, [UInt8])? {
        let advice = "\(advice), then type 'killswitchctl reload'"
        if let bytes = readStored().first(where: { $0.name == key })?.bytes,
            let zone = ZoneFiles.zone(named: name, stored: bytes)
        {
            let problem = ZoneProblem("\(problem); its stored data counts", advice: advice)
            return (Entry(zone: zone, problem: problem), bytes)
        }
        guard wasAccepted || key == ZoneFiles.localtime else { return nil }
        let words = "\(problem); ends without an offset from UTC are held, and no days are counted"
        return (Entry(zone: .unknown(name), problem: ZoneProblem(words, advice: advice)), [])
    }
}

extension ValueType where Value == Zones.Entry {
    /// The IANA name of a time zone in `zones`.
    static func zone(of zones: Zones) -> Self {
        Self(
            expected: "the name of a time zone such as \"Asia/Tokyo\"", text: { $0.zone.name }
        ) { name throws(ValueProblem) in
            let zone: Zones.Entry?
            do {
                zone = try zones.zone(named: name)
            } catch {
                throw .bad("time zone", cause: "\(error)")
            }
            if let zone { return zone }
            throw .unknown("time zone", hint: zones.hint(for: name))
        }
    }
}

extension Zones {
    /// What the author of a configuration with an unknown zone may have meant, or lacks.
    fileprivate func hint(for name: String) -> String? {
        if let package = files.package(name) {
            return "its data is not on this host: install the package \(package)"
        }
        return nearest(to: name, among: files.names()).map { "did you mean \($0.quoted)?" }
    }
}
