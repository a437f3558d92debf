import CivilTime

/// What is wrong with a service, as far as it follows from its state.
extension ServiceState {
    /// The present problems, as of the record that was published last. An answer without any flags is a
    /// problem of its source.
    func presentProblems(in circumstances: Circumstances) -> [ServiceProblem.Cause] {
        var causes: [ServiceProblem.Cause] = []
        if let reason = record?.verdict.reason, let cause = ServiceProblem.Cause(reason) {
            causes.append(cause)
        }
        for position in switches.indices {
            if let problem = switches[position].problem, !problem.isOfSource {
                causes.append(
                    .invalidAnswer(
                        service.switches[position].source, problem,
                        hasFlags: switches[position].reading != nil))
            }
            guard installed == nil else { continue }
            for case .minimumVersion(let minimum) in switches[position].reading?.claims ?? [] {
                causes.append(.versionUnknown(service.switches[position].source, minimum))
            }
        }
        if let drill = entry?.drill?.result, !drill.isGood { causes.append(.drillFailed(drill)) }
        values.forEachProblem(of: service) { causes.append(.valueInvalid($0, $1, $2)) }
        if let override = circumstances.overrideInForce, let notice = override.noticeAt,
            notice <= circumstances.overrideTime
        {
            causes.append(.overrideEnds(override, at: service.zone.zoned(override.until)))
        }
        return causes
    }

    /// The notices about new problems: that an override ends soon is told when it becomes true.
    func logMessages(for new: [ServiceProblem.Cause]) -> [LogMessage] {
        new.compactMap { cause in
            guard case .overrideEnds(let override, let end) = cause else { return nil }
            return .overrideEnds(service.name, override, at: end)
        }
    }

    var isTroubled: Bool { !problems.isEmpty }
}

extension Circumstances {
    /// The time until people are told that the override ends; nil without one, and afterwards.
    var timeUntilOverrideNotice: Duration? {
        guard let notice = overrideInForce?.noticeAt, overrideTime < notice else { return nil }
        return notice - overrideTime
    }
}
