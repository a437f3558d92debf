import Decision

extension Service {
    /// Warns of settings that contradict each other without being wrong.
    func warnOfWhatHasNoEffect(
        in reader: TableReader, _ sources: [Source], _ report: inout Report
    ) {
        guard let maxStale = policy.maxStale else {
            // Flags in the format switch may say themselves how long they count.
            if let member = reader.member(ServiceKey.whenStale),
                !switches.contains(where: \.canExpire)
            {
                report.warn(
                    "'\(member.key)' \(reader.place) has no effect: 'max_stale' is \"never\"",
                    at: member.keyOrigin)
            }
            return
        }
        let origin = reader.member(ServiceKey.maxStale)?.node.origin ?? reader.origin
        let names = Set(switches.map(\.source))
        for source in sources where names.contains(source.name) && maxStale <= source.interval {
            report.warn(
                "'max_stale' \(reader.place) is over before source '\(source.name)' is asked again, "
                    + "every \(source.interval.text)",
                at: origin)
        }
    }
}

extension Switch {
    /// Whether its flags can be stale without `max_stale`.
    fileprivate var canExpire: Bool {
        switch format {
        case .switchObject: true
        case .serviceEnd, .status, .maintenance: false
        }
    }
}
