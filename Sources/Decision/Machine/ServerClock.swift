package import CivilTime

/// The clock of a source's server: its time at a moment of this boot.
package struct ServerClock: Hashable, Sendable {
    package let date: Instant
    package let at: Boottime

    /// A server whose clock showed `date` at `at`.
    package init(date: Instant, at: Boottime) {
        self.date = date
        self.at = at
    }

    /// A difference that answers on their way may make, and that is no step of the clock.
    private static let noise: Duration = .seconds(60)

    /// Its time now.
    package func time(at now: Now) -> Instant { date + (now.boot - at) }

    /// Whether it is further from the wall clock than the tolerance.
    func isFar(from now: Now) -> Bool {
        (now.wall - time(at: now)).magnitude > ClockTrust.tolerance
    }

    /// The same clock after another `Date`. That is a whole second, rounded down, and an answer may be
    /// slow: a clock that seems to be late by little has not moved. So its time never goes backwards
    /// by the noise, and an end that has come stays.
    func moved(to date: Instant, at now: Now) -> ServerClock {
        let expected = time(at: now)
        let isLate = date <= expected && expected - date < Self.noise
        return ServerClock(date: isLate ? expected : date, at: now.boot)
    }

    /// Whether it shows about the same time as `other` at every moment.
    func isNear(_ other: ServerClock) -> Bool {
        ((date - other.date) - (at - other.at)).magnitude < Self.noise
    }

    /// Its distance from our clock, and which of the two measures ends, as a clause. With mirrors it is the clock of
    /// this one.
    func warning(
        of mirror: String?, isSigned: Bool, isSynchronised: Bool, at now: Now
    ) -> String {
        let distance = now.wall - time(at: now)
        let amount = distance.magnitude.distanceInWords
        let subject = mirror.map { "the clock of mirror '\($0)'" } ?? "the server's clock"
        let lead = "\(subject) is \(amount) \(distance > .zero ? "behind" : "ahead"); "
        if isSigned {
            return lead + "killswitchd ignores it: the documents are signed, the clock is not"
        }
        if isSynchronised {
            return lead + "killswitchd uses the clock of this host, which is synchronised"
        }
        return lead + "the clock of this host is not synchronised, so ends and windows follow the "
            + "server's clock"
    }
}

extension Now {
    /// The distance of the two clocks: it changes with a step of the wall clock.
    var offset: Duration { wall - Instant(microseconds: boot.microseconds) }
}

extension Duration {
    /// For people, in the largest unit: "3 days".
    var distanceInWords: String {
        let seconds = microseconds / 1_000_000
        return switch seconds {
        case ..<7200: "\((seconds + 30) / 60) minutes"
        case ..<172_000: "\((seconds + 1800) / 3600) hours"
        default: "\((seconds + 43_200) / 86_400) days"
        }
    }

    var magnitude: Duration { max(self, .zero - self) }
}
