import Decision
import JSON

extension Source {
    private static let intervals: ClosedRange<Duration> = .milliseconds(100) ... .seconds(86_400)
    private static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .seconds(600)
    private static let bodies = ByteSize(bytes: 1)...ByteSize(bytes: 64 << 20)

    /// Reads a table `[source.NAME]`; nil after an error, or where there is no name.
    init?(name: SourceName?, from reader: TableReader, _ report: inout Report) {
        let type = reader.required(
            SourceKey.type, .sourceType, because: "; \(SourceType.follows)", &report)
        let kind = type?.read(reader, &report)
        if let type {
            reader.refuseKeys(notIn: SourceKey.words + type.keys, &report)
        } else if reader.member(SourceKey.type) == nil {
            reader.refuseKeys(notIn: SourceKey.words + SourceType.keys, &report)
        }

        let interval = reader.value(
            SourceKey.interval, .duration(in: Self.intervals), default: Self.defaultInterval,
            &report)
        let timeout = reader.value(
            SourceKey.timeout, .duration(in: Self.timeouts), default: Self.defaultTimeout, &report)
        let maxBody = reader.value(
            SourceKey.maxBody, .byteSize(in: Self.bodies),
            default: ByteSize(bytes: type?.maxBody ?? Self.defaultMaxBody), &report)

        var defaults = JSON.Object()
        if let table = reader.table(SourceKey.defaults, &report) {
            for member in table.table.members {
                defaults[member.key] = table.optional(member, .json, &report)
            }
        }

        guard let name, let kind else { return nil }
        self.init(
            name: name, kind: kind, interval: interval, timeout: timeout, maxBody: maxBody.bytes,
            defaults: defaults, origin: reader.origin)
    }
}
