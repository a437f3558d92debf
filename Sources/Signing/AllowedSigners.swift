package import CivilTime

/// The people whose signatures count: a file in the format of ssh-keygen(1), ALLOWED SIGNERS.
///
/// Everything in it that is not implemented is an error with its line, also what ssh-keygen takes:
/// `cert-authority`, and patterns in place of names, because an order has an author.
package struct AllowedSigners: Hashable, Sendable {
    /// The signers of each key, by its bytes in SSH's wire format.
    private let signers: [[UInt8]: [SignerLine]]

    /// The size above which a file is no list of signers.
    package static let maximumSize = 1 << 20

    /// Reads a file, its local times in this zone.
    package init(_ bytes: [UInt8], zone: Zone) throws(AllowedSignersError) {
        guard bytes.count <= Self.maximumSize else {
            throw AllowedSignersError(line: 1, clause: "the file has more than 1 MiB")
        }
        var entries: [SignerLine] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (line, number) in zip(lines, 1...) {
            do throws(FormatProblem) {
                guard let entry = try SignerLine(line, zone: zone) else { continue }
                entries.append(entry)
            } catch {
                throw AllowedSignersError(line: number, clause: error.clause)
            }
        }
        guard !entries.isEmpty else {
            throw AllowedSignersError(
                line: 1, clause: "the file lists no signer, so every document would be refused")
        }
        signers = Self.signers(of: entries)
    }

    /// The signer with the key of this signature, for our namespace and now. It checks no signature.
    func signer(of signature: SSHSignature, at now: Instant) throws(SignatureRefusal) -> SignerLine
    {
        guard let candidates = signers[signature.key], let first = candidates.first else {
            guard SSHKey.Kind(rawValue: signature.keyType) != nil else {
                throw .keyType(signature.keyType)
            }
            throw .unlisted(SSHKey.fingerprintText(of: signature.key))
        }
        if let signer = candidates.first(where: { $0.isForUs && $0.validity.contains(now) }) {
            return signer
        }
        guard let signer = candidates.first(where: \.isForUs) else {
            throw .otherPurpose(first.person)
        }
        if signer.validity.begins(after: now) { throw .notYetValid(signer.person) }
        throw .noLongerValid(signer.person)
    }

    /// Gives one name to each person, the first in the file: lines that share a name or a key belong to one
    /// person, over any number of lines. Otherwise somebody with two names could sign for two people.
    private static func signers(of entries: [SignerLine]) -> [[UInt8]: [SignerLine]] {
        var leaders = Array(entries.indices)
        func leader(of entry: Int) -> Int {
            var entry = entry
            while leaders[entry] != entry {
                leaders[entry] = leaders[leaders[entry]]
                entry = leaders[entry]
            }
            return entry
        }
        func join(_ one: Int, _ other: Int) {
            let (one, other) = (leader(of: one), leader(of: other))
            leaders[max(one, other)] = min(one, other)
        }
        var holders: [String: Int] = [:]
        var keyed: [[UInt8]: Int] = [:]
        for (index, entry) in entries.enumerated() {
            for name in entry.principals {
                if let earlier = holders.updateValue(index, forKey: name) { join(earlier, index) }
            }
            if let earlier = keyed.updateValue(index, forKey: entry.key.bytes) {
                join(earlier, index)
            }
        }
        let named = entries.enumerated().map { index, entry in
            var entry = entry
            entry.person = entries[leader(of: index)].person
            return entry
        }
        return Dictionary(grouping: named, by: \.key.bytes)
    }
}

/// Why a file of allowed signers is not accepted.
package struct AllowedSignersError: Error, Hashable, CustomStringConvertible {
    /// Counted from 1.
    package let line: Int
    /// The problem: a clause.
    package let clause: String

    /// `line 3: the option 'cert-authority' is not supported`
    package var description: String { "line \(line): \(clause)" }
}
