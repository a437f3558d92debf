package import CivilTime

/// What is known of one switch at the moment its service is decided.
package struct Evidence: Hashable, Sendable {
    package var source: SourceName
    /// What the last good flags say; nil when none were ever read.
    package var reading: Reading?
    /// Whether the source gave or confirmed flags since the start.
    package var isAnswered: Bool
    /// Whether its first answer may still be waited for.
    package var isAwaited: Bool
    /// Whether the host has just woken up, and the source may not have been asked since.
    package var isWaking: Bool
    /// How long ago the source last confirmed those flags.
    package var age: Duration
    /// What is wrong with the newest answer, when it is not the one in force.
    package var problem: InvalidFlag?
    /// What newer answers say that are not confirmed yet.
    package var unconfirmed: Unconfirmed?
    package var version: String?

    package init(
        source: SourceName, reading: Reading? = nil, isAnswered: Bool = false,
        isAwaited: Bool = false, isWaking: Bool = false, age: Duration = .zero,
        problem: InvalidFlag? = nil, unconfirmed: Unconfirmed? = nil, version: String? = nil
    ) {
        self.source = source
        self.reading = reading
        self.isAnswered = isAnswered
        self.isAwaited = isAwaited
        self.isWaking = isWaking
        self.age = age
        self.problem = problem
        self.unconfirmed = unconfirmed
        self.version = version
    }
}

/// What else a decision depends on.
package struct Circumstances: Hashable, Sendable {
    /// The time for ends and windows: the wall clock's where it is believed.
    package var time: Instant
    package var isClockBelieved: Bool
    /// Whether this service was decided in this boot already, so that its units may be running.
    package var isSameBoot: Bool
    /// The gate that its flags and its policy have wanted in this boot until now; nil where that is not
    /// known.
    package var stood: Gate?
    /// The version of what the service runs, where that is known.
    package var installed: Version?
    /// What an operator has ordered.
    package var override: Override?

    package init(
        time: Instant, isClockBelieved: Bool, isSameBoot: Bool, stood: Gate? = nil,
        installed: Version? = nil, override: Override? = nil
    ) {
        self.time = time
        self.isClockBelieved = isClockBelieved
        self.isSameBoot = isSameBoot
        self.stood = stood
        self.installed = installed
        self.override = override
    }

    /// The same, had no operator ordered anything.
    package var unforced: Self {
        var circumstances = self
        circumstances.override = nil
        return circumstances
    }

    /// The override that is in force: one that has not expired by the time for ends.
    package var standingOverride: Override? {
        guard let override, time < override.until else { return nil }
        return override
    }
}

/// Answers that agree with each other, and not with the flags in force: too few as yet.
package struct Unconfirmed: Hashable, Sendable {
    /// What they would do.
    package var gate: Gate
    /// How many there were, one after the other.
    package var count: Int
    /// How many it takes.
    package var needed: Int

    package init(gate: Gate, count: Int, needed: Int) {
        self.gate = gate
        self.count = count
        self.needed = needed
    }
}
