import CivilTime

/// The signatures that newer flags lack before they count for a service.
package struct MissingSignatures: Hashable, Sendable {
    /// What the flags would do to the gate, now or later; nil if they only have a version jump.
    package let gate: Gate?
    package let authors: [String]
    /// How many people have to sign: `signatures_to_close` or `signatures_to_open`.
    package let needed: Int

    /// Flags that move the gate so and are signed by fewer than `needed`.
    package init(gate: Gate?, authors: [String], needed: Int) {
        self.gate = gate
        self.authors = authors
        self.needed = needed
    }

    /// What the flags would do, who has signed and what is missing, to follow the name of the source.
    var clause: String {
        let names = authors.isEmpty ? "nobody" : authors.map(quoted).joined(separator: ", ")
        let act =
            gate.map { "asks to \($0.request) the gate" }
            ?? "raises the version too far for one signer"
        let missing = needed - authors.count
        return "\(act); signed by \(names); "
            + (missing == 1
                ? "one more signature is needed" : "\(missing) more signatures are needed")
    }
}

extension Service {
    /// The signatures that newer flags lack; nil if they lack none.
    ///
    /// The flags in force and the newer ones are compared now, at each of their ends, windows and steps to
    /// come, and where they become stale. An order that ends a service tomorrow closes as one that ends it now
    /// does, and an order that takes an announced end back opens. If there are no flags yet, `when_unknown`
    /// holds. `number` is the number of the answer in force.
    func missingSignatures(
        under next: Reading, _ answer: inout AnswerReader, by authors: [String], read plan: Switch,
        before: Evidence, _ number: Int?, in circumstances: Circumstances
    ) -> MissingSignatures? {
        let (close, open) = (policy.signaturesToClose, policy.signaturesToOpen)
        guard authors.count < max(close, open) else { return nil }
        let arrivals = [before.reading, next].map { reading in
            reading?.rollout.flatMap { rollout in
                let place = circumstances.place
                return rollout.arrival(
                    at: rollout.slot(of: place, service: name, source: before.source))
            }
        }
        let key = GateMoves.Key(
            format: plan.format, zone: zone, policy: policy, before: number, arrivals: arrivals,
            installed: circumstances.installed)
        // What is left of a rollout reaches every slot alike.
        var circumstances = circumstances
        circumstances.place = .fixed(circumstances.place.slot(seed: ""))
        let found = answer.moves(key) {
            let old = before.reading.map { Course($0, arrival: arrivals[0]) }
            let new = Course(next, arrival: arrivals[1])
            let versions = versions(of: old, new, in: circumstances)
            return GateMoves(old, new) { course, time, successor in
                let evidence =
                    course?.evidence(at: time, of: before.source, comparedWith: successor)
                    ?? Evidence(source: before.source)
                return versions.map {
                    gate(by: evidence, in: circumstances.at(time, installed: $0))
                }
            }
        }
        let moves = moves(found, from: before, in: circumstances)
        for (gate, needed) in [(Gate.closed, close), (.open, open)]
        where moves.contains(gate) && authors.count < needed {
            return MissingSignatures(gate: gate, authors: authors, needed: needed)
        }
        return nil
    }

    /// The versions to compare: each that is required, because the host may be updated later.
    private func versions(
        of old: Course?, _ new: Course, in circumstances: Circumstances
    ) -> Set<Version?> {
        Set(
            [circumstances.installed, Version("0")] + (old?.minimumVersions ?? [])
                + new.minimumVersions)
    }

    /// The gates that newer flags ask for, now or later, where the flags in force ask for the other.
    private func moves(
        _ found: GateMoves, from before: Evidence, in circumstances: Circumstances
    ) -> Set<Gate> {
        let now = before.time(in: circumstances)
        // What has come may lie ahead of a clock that was set back: compare also the times between the two.
        let begin = min(now, circumstances.time)
        var moves = found.moves(after: begin)
        let source = before.source
        for time in Set([now, begin]) {
            let successor = found.new.evidence(at: time, of: source)
            var earlier = [
                found.old?.evidence(at: time, of: source, comparedWith: found.new)
                    ?? Evidence(source: source)
            ]
            // Now the gate also depends on whether the flags in force are stale, which `Course` leaves out.
            if time == now {
                var present = before
                present.reading = found.old?.reading(at: time)
                earlier.append(present)
            }
            for installed in versions(of: found.old, found.new, in: circumstances) {
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
}

extension Circumstances {
    fileprivate func at(_ time: Instant, installed: Version?) -> Circumstances {
        var circumstances = self
        (circumstances.time, circumstances.installed) = (time, installed)
        return circumstances
    }
}
