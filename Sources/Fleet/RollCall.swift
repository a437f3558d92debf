/// Which hosts of a fleet have obeyed, at one moment.
package struct RollCall: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        package let host: FleetHost
        package let obedience: Obedience
        /// Nil for a host that gave none.
        package let account: HostAccount?
    }

    /// A row for each host, by name.
    package let rows: [Row]
    /// Why nothing is known of any host; nil if the reader has answered.
    package let problem: String?

    /// How many hosts have to obey: those of the inventory, or without one those that were found.
    package let total: Int
    /// How many of them have obeyed. A host of the inventory that was found twice has obeyed if both have.
    package let obeyed: Int

    /// Evaluates what was found by what is demanded. With an inventory each host of it has a row, found or not.
    ///
    /// What was found accounts for one host of the inventory at most: one host that calls itself by many names must
    /// not hide that others are silent.
    package init(_ findings: [HostFinding], _ demand: Demand, _ inventory: Inventory? = nil) {
        let names = findings.map { inventory?.name(of: $0.host) }
        let listed = zip(findings, names).filter { inventory == nil || $0.1 != nil }.map(\.0)
        let common = Decided.common(of: listed.compactMap(\.account))
        var (rows, named): ([Row], [String: Bool]) = ([], [:])
        for (finding, name) in zip(findings, names) {
            let obedience = finding.obedience(to: demand, common: common)
            let host = name.map { FleetHost(id: finding.host.id, name: $0) } ?? finding.host
            rows.append(
                Row(
                    host: host,
                    obedience: inventory == nil || name != nil ? obedience : obedience.unlisted,
                    account: finding.account))
            if let name { named[name] = obedience == .obeyed && named[name] != false }
        }
        for name in inventory?.names ?? [] where named[name] == nil {
            let silence = Obedience.silent("the inventory names it, and nothing is known of it")
            rows.append(
                Row(host: FleetHost(id: name, name: name), obedience: silence, account: nil))
        }
        self.rows = rows.sorted {
            ($0.host.name, $0.host.id) < ($1.host.name, $1.host.id)
        }
        total = inventory?.names.count ?? rows.count
        obeyed =
            inventory == nil
            ? rows.count { $0.obedience == .obeyed } : named.values.count { $0 }
        problem = nil
    }

    /// Nothing could be read: each host of the inventory is unknown, and without one no host is known.
    package init(unread problem: String, _ inventory: Inventory? = nil) {
        rows = (inventory?.names.sorted() ?? []).map { name in
            Row(host: FleetHost(id: name, name: name), obedience: .unknown(problem), account: nil)
        }
        (total, obeyed) = (rows.count, 0)
        self.problem = problem
    }

    /// How many hosts there are of each word that is not `obeyed`, without the words that no host has.
    package var counts: [(word: String, count: Int)] {
        let counts = rows.reduce(into: [:]) { $0[$1.obedience.word, default: 0] += 1 }
        return Obedience.words.compactMap { word in counts[word].map { (word, $0) } }
    }
}

/// How many hosts have to obey: `99%`, or a number of hosts.
package struct Quorum: Hashable, Sendable, CustomStringConvertible {
    /// Of a million hosts, so many; nil for a number of hosts.
    private let millionths: Int64?
    private let hosts: Int64
    package let description: String

    /// All hosts.
    package static let all = Quorum(millionths: 1_000_000, hosts: 0, description: "100%")

    private init(millionths: Int64?, hosts: Int64, description: String) {
        (self.millionths, self.hosts, self.description) = (millionths, hosts, description)
    }

    /// Nil if the text is neither a percentage above 0 and up to 100, with at most four decimals, nor a number from 1.
    package init?(_ text: String) {
        description = text
        guard text.last == "%" else {
            guard let number = Int64(digits: text), number > 0 else { return nil }
            (millionths, hosts) = (nil, number)
            return
        }
        let parts = text.dropLast().split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count > 1 ? String(parts[1]) : "0"
        guard let whole = Int64(digits: String(parts[0])), whole <= 100,
            (1...4).contains(decimals.count),
            let rest = Int64(digits: decimals + String(repeating: "0", count: 4 - decimals.count))
        else { return nil }
        let share = whole * 10_000 + rest
        guard (1...1_000_000).contains(share) else { return nil }
        (millionths, hosts) = (share, 0)
    }

    /// Whether enough hosts have obeyed. Of no host at all they never have.
    package func isReached(_ rollCall: RollCall) -> Bool {
        guard rollCall.problem == nil, !rollCall.rows.isEmpty else { return false }
        let obeyed = Int64(rollCall.obeyed)
        guard let millionths else { return obeyed >= hosts }
        return obeyed * 1_000_000 >= Int64(rollCall.total) * millionths
    }
}

extension Int64 {
    /// A number of at most nine digits, and nothing but digits.
    fileprivate init?(digits text: String) {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        self.init(text)
    }
}

extension HostFinding {
    package var account: HostAccount? {
        if case .account(let account) = content { account } else { nil }
    }

    fileprivate func obedience(to demand: Demand, common: Decided?) -> Obedience {
        switch content {
        case .account(let account): demand.evaluate(account, common: common)
        case .silent(let why): .silent(why)
        case .unknown(let why): .unknown(why)
        }
    }
}

extension Obedience {
    /// The same of a host that the inventory does not name.
    fileprivate var unlisted: Obedience {
        .unlisted(why.map { "\(word): \($0)" } ?? "it has obeyed")
    }
}
