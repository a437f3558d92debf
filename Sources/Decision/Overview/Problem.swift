package import CivilTime

/// Something that is wrong now: what, with which service, unit or source, since when, and what to do. Every surface
/// prints from it.
package struct Problem: Hashable, Sendable {
    package let subject: Subject
    package let kind: Kind
    /// What is wrong, as a clause about the subject.
    package let text: String
    /// When the daemon first saw it; nil if nobody has noted that.
    package internal(set) var since: Instant?
    /// Whether monitoring is told: not of a single failed fetch, or of a unit that is about to be as wanted.
    package let isAlarm: Bool
    private let ownAdvice: String?

    /// A problem that lasts since `since`. Without an `advice` of its own it has that of its kind.
    package init(
        _ subject: Subject, _ kind: Kind, _ text: String, since: Instant?,
        isAlarm: Bool = true, advice: String? = nil
    ) {
        ownAdvice = advice
        self.subject = subject
        self.kind = kind
        self.text = text
        self.since = since
        self.isAlarm = isAlarm
    }

    /// The thing that has a problem.
    package enum Subject: Hashable, Sendable {
        /// The host, or the daemon itself.
        case host
        case service(ServiceName)
        /// A unit that is attached to these services.
        case unit(UnitName, of: [ServiceName])
        case source(SourceName)
    }

    /// The whole line: the subject and what is wrong with it.
    package var sentence: String { subject.prefix + text }

    /// What to do about it, as a clause.
    package var advice: String { ownAdvice ?? kindAdvice }

    /// That these units are attached to a service that is not configured, as a clause about the service.
    package static func orphans(_ units: Set<UnitName>) -> String {
        let shown = units.sorted().prefix(8).map(\.text)
        return "the service is not configured, and units are attached to it: "
            + shown.andMore(of: units.count).joined(separator: ", ")
            + "; its gate stays as it is, and nobody can start them while it is closed"
    }

    /// The kinds of problems. The raw value is their word in JSON; killswitchd(8) lists them.
    package enum Kind: String, CaseIterable, Sendable {
        case noDaemon = "no-daemon"
        case configurationRefused = "configuration-refused"
        case configurationNotKept = "configuration-not-kept"
        case stateDirectory = "state-directory"
        case runtimeDirectory = "runtime-directory"
        case unreadableRecord = "unreadable-record"
        case metrics
        case report
        case descriptors
        case bus
        case gate
        case notice
        case unit
        case unitsOrphaned = "units-orphaned"
        case invalidAnswer = "invalid-answer"
        case awaitingSignature = "awaiting-signature"
        case endUnreadable = "end-unreadable"
        case timeZone = "time-zone"
        case versionUnknown = "version-unknown"
        case valueInvalid = "value-invalid"
        case stale
        case expired
        case unproved
        case unknown
        case clock
        case closingHeld = "closing-held"
        case stepHeld = "step-held"
        case overrideEnds = "override-ends"
        case drillFailed = "drill-failed"
        case unreadableState = "unreadable-state"
        case source
        case documentRefused = "document-refused"
        case mirror
        case signersUnreadable = "signers-unreadable"
        case sourceUnwatched = "source-unwatched"
        case sourceWarning = "source-warning"
    }

    private var kindAdvice: String {
        let service = subject.services.first?.text ?? "SERVICE"
        return switch kind {
        case .noDaemon: "type 'systemctl status killswitchd'; no gate moves until killswitchd runs"
        case .configurationRefused: "correct the file, then type 'killswitchctl reload'"
        case .configurationNotKept:
            "free space in the state directory, then type 'killswitchctl reload'"
        case .stateDirectory:
            "free space or repair the file system; killswitchd retries. Do not restart "
                + "killswitchd before that: it would forget orders and accepted versions. If the directory is gone "
                + "for good, 'systemctl restart killswitchd' makes it; then give your orders again"
        case .runtimeDirectory: "free space or repair the file system; killswitchd retries"
        case .unreadableRecord:
            "repair the file, or its owner and mode: it is read again until it can be. Or give your orders: "
                + "'killswitchctl force SERVICE running' opens a service, and the file is then kept as "
                + "NAME.unreadable-TIME"
        case .metrics:
            "let the daemon's user write there, or correct 'textfile'; killswitchd retries every 30 s"
        case .report: "see that this host reaches the server of [report]; killswitchd retries"
        case .descriptors: "raise LimitNOFILE= in the unit of the daemon"
        case .bus: "type 'systemctl status dbus polkit'; only the gates are affected"
        case .gate: "type 'systemctl status dbus polkit'; killswitchd retries"
        case .notice:
            "repair it, then type 'systemctl start killswitch-notice@\(service).target' to announce "
                + "the last notice"
        case .unit: "type 'systemctl status\(subject.unit.map { " \($0)" } ?? "")'"
        case .unitsOrphaned:
            "configure the service again and type 'killswitchctl reload', or: "
                + "killswitchctl detach --all \(service)"
        case .invalidAnswer: "correct the flags at the source; an invalid answer changes nothing"
        case .awaitingSignature:
            "have more people sign the same document with 'killswitchctl sign'; until then nothing changes"
        case .endUnreadable: "write the end as 2027-03-31T00:00:00+09:00"
        case .timeZone:
            "install the time zone data of this system, then type 'killswitchctl reload'"
        case .versionUnknown:
            "set 'installed_version' in the service, or correct the file that it names"
        case .valueInvalid: "correct the flag, or the type of the value"
        case .stale: "'killswitchctl refresh' shows why the source fails; max_stale sets the limit"
        case .expired: "publish newer flags; the time 'expires' of these has passed"
        case .unproved: "have a listed signer sign the flags, or put their signer back in the list"
        case .unknown: "see why the source does not answer; when_unknown decides until it does"
        case .clock:
            "type 'timedatectl set-ntp true' to have the clock of this host synchronised; 'killswitchctl status' names "
                + "what differs from it"
        case .closingHeld:
            "if the closing is intended, type 'killswitchctl confirm \(service)'; if not, correct the flags"
        case .stepHeld:
            "'killswitchctl explain \(service)' shows which address the guard asks; if the step is safe although the "
                + "guard does not pass, type 'killswitchctl confirm \(service)'; if not, correct the flags"
        case .overrideEnds:
            "to extend the order, type 'killswitchctl force \(service)' again; otherwise the flags decide"
        case .drillFailed:
            "correct the unit, then type 'killswitchctl drill \(service)': a drill that succeeds ends the "
                + "problem"
        case .unreadableState: "see killswitchd(8), FILES; a running daemon writes it again"
        case .source:
            "see that this host reaches the source, and that its answer is valid; killswitchd retries"
        case .documentRefused:
            "look up the quoted word in killswitchd(8), Reasons; 'killswitchctl verify' tests a document"
        case .mirror:
            "publish the newest document there too; orders reach this host by the other mirrors"
        case .signersUnreadable:
            "correct the file, its owner or its mode; it is read again as soon as it changes"
        case .sourceUnwatched: "nothing, if a change may wait for the next poll"
        case .sourceWarning: "check whether this is intended; the flags are in force"
        }
    }
}

extension Problem.Subject {
    /// Whether it is the host, or belongs to one of the chosen services.
    func concerns(_ isChosen: (ServiceName) -> Bool) -> Bool {
        switch self {
        case .host, .source: true
        case .service(let name): isChosen(name)
        case .unit(_, let services): services.contains(where: isChosen)
        }
    }

    package var services: [ServiceName] {
        switch self {
        case .host, .source: []
        case .service(let name): [name]
        case .unit(_, let services): services
        }
    }

    package var unit: UnitName? { if case .unit(let name, _) = self { name } else { nil } }

    package var source: SourceName? { if case .source(let name) = self { name } else { nil } }

    fileprivate var prefix: String {
        switch self {
        case .host: ""
        case .service(let name): "\(name): "
        case .unit(let unit, let services):
            "unit '\(unit)' of \(services.map { "'\($0)'" }.joined(separator: ", ")): "
        case .source(let name): "source '\(name)': "
        }
    }
}
