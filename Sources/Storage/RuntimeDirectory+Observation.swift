import CivilTime
import Decision
import Files
import Gates

/// A service that is only observed: everything is decided and told, and nothing keeps it closed.
extension RuntimeDirectory {
    /// Writes what was decided of a service that is only observed. Before that nothing stays by which somebody or
    /// something would keep it closed, also on a full disk. The marker `open` of an earlier decision is left: it keeps
    /// nothing closed, and units that are attached still do not start without it.
    func observe(
        _ record: PublishedVerdict, of service: Service, _ folder: String
    ) throws(FileError) {
        let mark = "\(folder)/\(FileName.observed)"
        let isMarked = Result { () throws(FileError) in
            try Directory.create(folder)
            if try !File.exists(mark) { try File.replace(mark, with: []) }
        }
        written.insert(mark)
        written.remove("\(folder)/\(Gate.open.rawValue)")
        written.misleading.remove(folder)
        if Marker(folder: folder).gate == .closed { try setMarker(nil, in: folder) }
        for name in WebFiles.names + [FileName.units, TargetOrders.fileName] {
            try remove("\(folder)/\(name)")
        }
        try isMarked.get()
        if let gate = record.verdict.gate {
            let moment = (wall: record.decidedAt, boot: Boottime(microseconds: 0))
            try publish(GateStatus(unmoved: gate, isEnforced: false), of: service, now: moment)
        }
        let state = StateFile.bytes(of: record, for: service, bootID: bootID)
        try replace((FileName.state, state, nil), in: folder)
        let environment = Array(EnvironmentFile.text(of: record, for: service).utf8)
        try replace((FileName.environment, environment, nil), in: folder)
    }

    /// The service is enforced, and its files say what was decided: from now on readers go by them.
    func endObservation(_ folder: String) throws(FileError) {
        let mark = "\(folder)/\(FileName.observed)"
        guard written.contains(mark) else { return }
        if PublishedGate.read(in: folder)?.isEnforced == false {
            try remove("\(folder)/\(FileName.gate)")
        }
        try remove(mark)
    }
}
