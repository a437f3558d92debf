import CivilTime

/// A difference between the clock of this host and something that tells the time, as a finding.
struct ClockDifference: Hashable {
    /// The source that tells another time; nil if it is the host.
    let source: SourceName?
    let cause: Cause
    let outcome: Outcome

    enum Cause: Hashable {
        /// The clock of the server.
        case date(isAhead: Bool)
        /// A document was issued later.
        case issued
        /// The build is later, or the time that systemd has stored.
        case build
        /// Stored flags were fetched later.
        case fetch
    }

    /// Which of the two counts.
    enum Outcome: Hashable {
        /// The clock of this host: it is synchronised.
        case outweighed
        /// The clock of this host, which another source confirms; not for this source.
        case ownHeld
        /// None.
        case allHeld
    }

    /// What is told of it, and what to do about it.
    func finding(_ amount: Duration) -> Finding {
        Finding(
            source.map { .source($0) } ?? .host, .clock, text(of: amount), matter: "\(cause)",
            advice: advice)
    }

    /// The difference as a clause about its subject.
    func text(of amount: Duration) -> String {
        let words = amount.inLargestUnit
        let what =
            switch cause {
            case .date(let isAhead):
                "the server's clock is \(words) \(isAhead ? "ahead" : "behind")"
            case .issued: "a document was issued \(words) ahead of the clock of this host"
            case .build:
                "the clock of this host is \(words) earlier than the build of killswitchd, or than the time that systemd has "
                    + "stored"
            case .fetch:
                "the clock of this host is \(words) earlier than the last fetch of the stored flags"
            }
        return switch outcome {
        case .outweighed: what + "; the clock of this host counts, because it is synchronised"
        case .ownHeld:
            what
                + "; the ends and windows of this source are held, and another source confirms the clock of this host"
        case .allHeld: what + "; ends and windows are held until the clock of this host is right"
        }
    }

    private var advice: String {
        let otherwise =
            switch cause {
            case .date: "correct the clock of the server"
            case .issued:
                "'killswitchctl forget \(source?.text ?? "SOURCE") --accepted-version --reason TEXT' drops the time of issue"
            case .build: "'date' and 'timedatectl' show what it is"
            case .fetch:
                "'killswitchctl forget SOURCE' drops the flags that were fetched later"
            }
        if outcome == .outweighed { return otherwise }
        return "type 'timedatectl set-ntp true' on this host; if its clock is right, \(otherwise)"
    }
}

extension Duration {
    /// For people, in the largest unit: "3 days".
    fileprivate var inLargestUnit: String {
        let seconds = microseconds / 1_000_000
        return switch seconds {
        case ..<7200: "\((seconds + 30) / 60) minutes"
        case ..<172_000: "\((seconds + 1800) / 3600) hours"
        default: "\((seconds + 43_200) / 86_400) days"
        }
    }

    var magnitude: Duration { max(self, .zero - self) }
}
