import CivilTime
import Decision
import Files
import JSON

/// The file of the highest version of a source's signed documents: two equal copies, each in a block of its own.
///
/// It has its whole size before the first version comes, so that a full disk keeps no signed order out. A copy is
/// on disk before the other one is begun, so that one of them holds the version at any time. A torn or
/// decayed copy is left out: the other one is never older than what the host acts on.
enum StoredVersion {
    /// The size of a copy, at least that of a block: a file system writes no part of one block with another.
    private static let copySize = 4096

    static var size: Int { copySize * 2 }

    /// A file that holds no version yet.
    static var blank: [UInt8] { [UInt8](repeating: 0, count: size) }

    /// A file that holds this version, or none.
    static func bytes(of version: AcceptedVersion?) -> [UInt8] {
        let copy = copy(of: version)
        return copy + copy
    }

    /// Overwrites the two copies of a file of the right size, one after the other.
    static func write(_ version: AcceptedVersion?, to file: borrowing OpenFile) throws(FileError) {
        let copy = copy(of: version)
        for place in [0, copySize] {
            try file.write(copy, at: place)
            try file.synchronize()
        }
    }

    /// The highest version in the copies; nil if neither holds one. Throws if none of them can be read.
    static func version(in file: [UInt8]) throws -> AcceptedVersion? {
        guard file.count == size else { throw StoredFormError.wrong("size") }
        var versions: [AcceptedVersion] = []
        var problem: (any Error)?
        for place in [0, copySize] {
            let copy = file[place..<(place + copySize)]
            guard copy.contains(where: { $0 != 0 }) else { continue }
            do { versions.append(try version(ofCopy: copy)) } catch { problem = error }
        }
        // Of one version the copy with the later 'issued' was written last.
        if let highest = versions.max(by: { $0.isOlder(than: $1) }) { return highest }
        if let problem { throw problem }
        return nil
    }

    private static func copy(of version: AcceptedVersion?) -> [UInt8] {
        let bytes =
            version.map { version in
                StoredForm.bytes([
                    "version": .number(Number(version.number)),
                    "digest": .string(text(of: version.digest)),
                    "issued": .optional(version.issued.map(Zone.utc.rfc3339)),
                    "sum": .string(sum(of: version)),
                ])
            } ?? []
        return bytes + [UInt8](repeating: 0, count: copySize - bytes.count)
    }

    private static func version(ofCopy copy: ArraySlice<UInt8>) throws -> AcceptedVersion {
        let text = Array(copy.prefix { $0 != 0 })
        let version = try StoredForm.read(text) { stored in
            let version = AcceptedVersion(
                number: try stored.integer("version"), digest: try digest(in: stored),
                issued: try stored.optionalInstant("issued"))
            // A copy that was torn may be one half of each of two versions.
            guard try stored.string("sum").utf8.elementsEqual(sum(of: version).utf8) else {
                throw StoredFormError.wrong("sum")
            }
            return version
        }
        guard let version else { throw StoredFormError.wrong("version") }
        return version
    }

    /// FNV-1a (64 bits) over the version, its digest and 'issued': it finds torn copies, and proves nothing.
    private static func sum(of version: AcceptedVersion) -> String {
        let issued = version.issued.map(Zone.utc.rfc3339) ?? ""
        let bytes = Array("\(version.number):\(text(of: version.digest)):\(issued)".utf8)
        let sum = bytes.reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        return String(sum, radix: 16)
    }

    /// A digest in hexadecimal digits.
    static func text(of digest: [UInt8]) -> String {
        digest.hexadecimal
    }

    static func digest(in stored: JSON.Object) throws -> [UInt8] {
        guard let bytes = [UInt8](hexadecimal: try stored.string("digest")) else {
            throw StoredFormError.wrong("digest")
        }
        return bytes
    }
}

extension AcceptedVersion {
    /// Whether it was written before another copy of the file.
    fileprivate func isOlder(than other: Self) -> Bool {
        guard number == other.number else { return number < other.number }
        guard let later = other.issued else { return false }
        return issued.map { $0 < later } ?? true
    }
}
