import Decision

/// What root's mover has done since the boot, and what systemd refuses: its file, in a directory that root alone
/// writes. The numbers in it say what is new in `SERVICE/targets`.
package struct MoverRecord: Hashable, Sendable {
    /// A job that systemd has taken.
    package struct Done: Hashable, Sendable {
        /// The highest number of its line that was carried out; 0 for a line without.
        package var number: UInt64
        /// systemd's number of the last job.
        package var job: UInt32

        package init(number: UInt64, job: UInt32) {
            self.number = number
            self.job = job
        }
    }

    /// An error of systemd: its name on the bus, and its words.
    package struct Refusal: Hashable, Sendable {
        package let name: String
        package let words: String

        package init(name: String, words: String) {
            self.name = name
            self.words = words
        }

        /// What it means for the gate.
        package var obstacle: GateObstacle {
            let sentence = words.hasSuffix(".") ? String(words.dropLast()) : words
            return name == "org.freedesktop.systemd1.NoSuchUnit"
                ? .noTarget(sentence) : .refused(sentence)
        }
    }

    /// The last request whose look at the files is over.
    package var request: UInt64 = 0
    package var done: [TargetJob: Done] = [:]
    /// The jobs that are wanted and were refused at the last look.
    package var refused: [TargetJob: Refusal] = [:]
    /// The last request to attach the units of the configuration that was carried out, or refused.
    package var attached: UInt64 = 0
    /// Why systemd refused that; nil if it did not.
    package var attachRefusal: Refusal?

    package init() {}

    /// How large the file is at most.
    package static let limit = 16 << 20
}

extension MoverRecord {
    /// The file, a line for each fact.
    package var text: String {
        var lines = ["request \(request)"]
        if attached > 0 { lines.append("attached \(attached)") }
        if let attachRefusal { lines.append("attaching refused \(attachRefusal.text)") }
        for (job, done) in done.sorted(by: { $0.key < $1.key }) {
            lines.append("\(job.text) \(done.number) job \(done.job)")
        }
        for (job, refusal) in refused.sorted(by: { $0.key < $1.key }) {
            lines.append("\(job.text) refused \(refusal.text)")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Reads the file. A line of another version is passed over.
    package init(_ text: String) {
        self.init()
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 4)
            guard words.count >= 2 else { continue }
            switch words[0] {
            case "request": request = UInt64(words[1]) ?? 0
            case "attached": attached = UInt64(words[1]) ?? 0
            case "attaching":
                attachRefusal = Refusal(line.split(separator: " ", maxSplits: 3), from: 2)
            case "start", "stop": read(words, of: line)
            default: break
            }
        }
    }

    /// `start UNIT NUMBER job JOB`, or `start UNIT refused NAME WORDS`.
    private mutating func read(_ words: [Substring], of line: Substring) {
        guard words.count > 3, let target = UnitName(String(words[1])).flatMap({ GateTarget($0) })
        else { return }
        let job: TargetJob = words[0] == "start" ? .start(target) : .stop(target)
        if words[2] == "refused" {
            refused[job] = Refusal(words, from: 3)
        } else if let number = UInt64(words[2]), words.count == 5, let identifier = UInt32(words[4])
        {
            done[job] = Done(number: number, job: identifier)
        }
    }
}

extension MoverRecord.Refusal {
    fileprivate var text: String { "\(name) \(words)" }

    fileprivate init?(_ words: [Substring], from place: Int) {
        guard words.count > place else { return nil }
        self.init(
            name: String(words[place]), words: words.dropFirst(place + 1).joined(separator: " "))
    }
}

extension TargetJob: Comparable {
    /// `start killswitch-open@shop.target`.
    package var text: String { "\(isStart ? "start" : "stop") \(target.unit?.text ?? "")" }

    /// By target, starts first.
    package static func < (left: Self, right: Self) -> Bool {
        left.target == right.target ? left.isStart && !right.isStart : left.target < right.target
    }
}
