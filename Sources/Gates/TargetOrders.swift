package import Decision

/// What is to be brought about with the targets of a service: the file `SERVICE/targets`, which the daemon writes and
/// root's mover carries out. A target that no line names is left as it is.
package struct TargetOrders: Hashable, Sendable {
    /// `start WORD` or `stop WORD`, where the word is the target's without its service.
    package struct Line: Hashable, Sendable {
        package let job: TargetJob
        /// Nil for a level: the target is to be up, or down, for as long as the line stands. With a number it is done
        /// once for each number that is higher than the one before, whatever the target shows.
        package let number: UInt64?

        package init(_ job: TargetJob, number: UInt64? = nil) {
            self.job = job
            self.number = number
        }
    }

    package let lines: [Line]

    package init(_ lines: [Line]) { self.lines = lines }

    /// The file. `stop closed`, `start open 1700000000`.
    package var text: String {
        lines.map { line in
            let target = line.job.target
            return (line.job.isStart ? "start " : "stop ") + target.orderWord
                + (line.number.map { " \($0)" } ?? "") + "\n"
        }.joined()
    }

    /// The name of the file in the folder of a service.
    package static let fileName = "targets"
    /// The file of the runtime directory with the number of the last request to attach what the configuration lists.
    package static let attachFileName = "attach.request"
    /// How many bytes the mover reads at most.
    package static let limit = 8 << 10

    /// Reads a file of the daemon, which may be in foreign hands. Nil for one that is not exactly what `text` writes,
    /// or of which two lines exclude each other: nothing of it is carried out then.
    package init?(_ bytes: [UInt8], of service: ServiceName) {
        guard bytes.count <= Self.limit, bytes.last.map({ $0 == UInt8(ascii: "\n") }) ?? true,
            bytes.allSatisfy({ $0 < 0x7F })
        else { return nil }
        var lines: [Line] = []
        for text in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let line = Line(text, of: service) else { return nil }
            lines.append(line)
        }
        self.init(lines)
        guard text.utf8.elementsEqual(bytes), !isContradictory else { return nil }
    }

    /// Whether the gate is to be closed.
    package var isClosing: Bool {
        lines.contains { $0.job.isStart && $0.job.target.kind == .closed }
    }

    /// Whether a target is to be up and down, or two are to be up of which each stops the other.
    private var isContradictory: Bool {
        let starts = Set(lines.filter(\.job.isStart).map(\.job.target))
        let stops = lines.filter { !$0.job.isStart }.map(\.job.target)
        return stops.contains(where: starts.contains)
            || starts.contains { one in starts.contains { $0 != one && one.stops($0) } }
    }
}

extension TargetOrders.Line {
    fileprivate init?(_ text: Substring, of service: ServiceName) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2 || words.count == 3,
            let target = GateTarget(orderWord: words[1], of: service)
        else { return nil }
        let number = words.count == 3 ? UInt64(words[2]) : nil
        guard words.count == 2 || number != nil else { return nil }
        switch words[0] {
        case "start": self.init(.start(target), number: number)
        case "stop": self.init(.stop(target), number: number)
        default: return nil
        }
    }
}

extension GateTarget {
    /// The word in `SERVICE/targets`: `open`, `update-required`, `variant:blue`.
    fileprivate var orderWord: String {
        if case .variant(let word) = kind { "variant:\(word)" } else { kind.word }
    }

    fileprivate init?(orderWord word: Substring, of service: ServiceName) {
        if let kind = Kind.fixed.first(where: { $0.word == word }) {
            self.init(service: service, kind: kind)
        } else if word.hasPrefix("variant:") {
            self.init(service: service, kind: .variant(String(word.dropFirst("variant:".count))))
            guard unit != nil else { return nil }
        } else {
            return nil
        }
    }
}
