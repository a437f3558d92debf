import CivilTime

/// The signatures that newer flags lack before they count for a service.
package struct MissingSignatures: Hashable, Sendable {
    /// What the flags would do to the gate, now or later; nil if they only have a version jump.
    package let gate: Gate?
    /// Who has signed.
    package let authors: [String]
    /// How many people have to sign: `signatures_to_close` or `signatures_to_open`.
    package let needed: Int

    /// Flags that move the gate so and are signed by fewer than `needed`.
    package init(gate: Gate?, authors: [String], needed: Int) {
        self.gate = gate
        self.authors = authors
        self.needed = needed
    }

    /// Who has signed and what they would do, as a clause about the flags.
    var clause: String {
        let names = authors.isEmpty ? "nobody" : authors.map(quoted).joined(separator: ", ")
        let act =
            gate.map { "would have the gate \($0.rawValue)" }
            ?? "have a version that is too high for one signer"
        return "signed by \(names), \(act), which takes the signatures of \(needed) people"
    }
}

extension Service {
    /// The signatures that newer flags lack; nil if they lack none.
    ///
    /// The flags in force and the newer ones are compared now, at each of their ends, windows and steps to
    /// come, and where they become stale. An order that ends a service tomorrow closes as one that ends it now
    /// does, and an order that takes an announced end back opens. If there are no flags yet, `when_unknown`
    /// holds.
    func missingSignatures(
        under next: Reading, by authors: [String], before: Evidence, in circumstances: Circumstances
    ) -> MissingSignatures? {
        let (close, open) = (policy.signaturesToClose, policy.signaturesToOpen)
        guard authors.count < max(close, open) else { return nil }
        let moves = moves(to: next, from: before, in: circumstances)
        if moves.contains(.closed), authors.count < close {
            return MissingSignatures(gate: .closed, authors: authors, needed: close)
        }
        if moves.contains(.open), authors.count < open {
            return MissingSignatures(gate: .open, authors: authors, needed: open)
        }
        return nil
    }

    /// The gates that newer flags ask for, now or later, where the flags in force ask for the other. Flags with
    /// too many windows to compare ask for both.
    private func moves(
        to next: Reading, from before: Evidence, in circumstances: Circumstances
    ) -> Set<Gate> {
        let now = before.time(in: circumstances)
        // A server's clock may be ahead of this host's: compare also the times between the two.
        let begin = min(now, circumstances.time)
        let readings = [before.reading, next].compactMap(\.self)
        let gateEdges = readings.flatMap(\.gateEdges)
        guard gateEdges.count <= Self.mostEdges else { return [.closed, .open] }
        let edges = (gateEdges + readings.compactMap(\.expires)).filter { $0 > begin }
        let times = Set([now, begin] + edges)
        // Each required version is compared, because the host may be updated later.
        let versions = Set(
            [circumstances.installed, Version("0")] + readings.flatMap(\.minimumVersions))
        let old = before.reading.map(Course.init)
        let course = Course(next)
        var moves: Set<Gate> = []
        for time in times {
            let successor = course.evidence(at: time, like: before)
            var earlier = [
                old?.evidence(at: time, like: before, comparedWith: next)
                    ?? Evidence(source: before.source)
            ]
            // Now, the gate also depends on whether the flags in force are stale, which `Course`
            // leaves out.
            if time == now { earlier.append(before) }
            for installed in versions {
                let there = circumstances.at(time, installed: installed)
                let new = gate(by: successor, in: there)
                if earlier.contains(where: { gate(by: $0, in: there) != new }) { moves.insert(new) }
            }
        }
        return moves
    }

    private func gate(by evidence: Evidence, in circumstances: Circumstances) -> Gate {
        opinion(of: evidence, in: circumstances)?.gate ?? policy.whenUnknown
    }

    /// How many times are compared: those of 250 windows in each of the two documents.
    private static let mostEdges = 1000
}

/// The flags of a reading at any time. Overlapping windows are joined, so that many times cost little.
private struct Course {
    private var withoutWindows: Reading
    private var windows: [Window] = []

    init(_ reading: Reading) {
        withoutWindows = reading
        withoutWindows.claims = []
        var all: [Window] = []
        for claim in reading.claims {
            if case .window(let window) = claim {
                all.append(window)
            } else {
                withoutWindows.claims.append(claim)
            }
        }
        for window in all.sorted(by: { $0.from < $1.from }) {
            if let last = windows.last, window.from <= last.until {
                windows[windows.count - 1] = Window(
                    from: last.from, until: max(last.until, window.until))
            } else {
                windows.append(window)
            }
        }
    }

    /// The flags at `time`, as if just confirmed, by the host's clock. With a `successor`, `expires` of
    /// these flags counts only at times when the successor has expired too: to stay fresh for longer
    /// moves no gate.
    func evidence(
        at time: Instant, like known: Evidence, comparedWith successor: Reading? = nil
    ) -> Evidence {
        var reading = withoutWindows
        if let window = window(at: time) { reading.claims.append(.window(window)) }
        if let successor, successor.expires.map({ $0 > time }) ?? true { reading.expires = nil }
        return Evidence(source: known.source, reading: reading)
    }

    /// The window that is open at `time`; nil without one.
    private func window(at time: Instant) -> Window? {
        var (low, high) = (0, windows.count)
        while low < high {
            let middle = (low + high) / 2
            if windows[middle].from <= time { low = middle + 1 } else { high = middle }
        }
        return low > 0 && windows[low - 1].contains(time) ? windows[low - 1] : nil
    }
}

extension Circumstances {
    /// The same at another time and with another installed version.
    fileprivate func at(_ time: Instant, installed: Version?) -> Circumstances {
        var circumstances = self
        (circumstances.time, circumstances.installed) = (time, installed)
        return circumstances
    }
}

extension Reading {
    /// The versions that it requires.
    fileprivate var minimumVersions: [Version] {
        claims.compactMap { if case .minimumVersion(let version) = $0 { version } else { nil } }
    }
}
