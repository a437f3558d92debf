extension Finding {
    /// The kinds of findings, in the order of the page. The raw value is their word on every surface; `row` has all
    /// that is to be known of a kind.
    package enum Kind: String, CaseIterable, Sendable {
        case noDaemon = "no-daemon"
        case configurationRefused = "configuration-refused"
        case configurationNotKept = "configuration-not-kept"
        case stateDirectory = "state-directory"
        case runtimeDirectory = "runtime-directory"
        case unreadableRecord = "unreadable-record"
        case controlSocket = "control-socket"
        case metrics
        case report
        case descriptors
        case bus
        case moverSilent = "mover-silent"
        case gate
        case notice
        case unitLate = "unit-late"
        case unitKilled = "unit-killed"
        case unitFailed = "unit-failed"
        case unitIntruding = "unit-intruding"
        case unitLost = "unit-lost"
        case unitLeftProcesses = "unit-left-processes"
        case unitUnattached = "unit-unattached"
        case unitUntied = "unit-untied"
        case unitStartWaits = "unit-start-waits"
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
        case overrideStands = "override-stands"
        case drillFailed = "drill-failed"
        case unreadableState = "unreadable-state"
        case source
        case documentRefused = "document-refused"
        case mirror
        case signersUnreadable = "signers-unreadable"
        case sourceUnwatched = "source-unwatched"
        case sourceWarning = "source-warning"
    }
}

extension Finding.Kind {
    /// What every surface knows of a kind. The journal's catalog, killswitchd(8) and the metrics are made from it.
    package struct Row {
        /// The `MESSAGE_ID` of a finding that comes, which never changes; nil for one that killswitchctl finds.
        package let messageID: String?
        package let level: LogMessage.Level
        /// Whether a closing that came now might not take effect because of it.
        package let disarms: Bool
        /// The kind in a line. Here and below the names of journal fields stand for what they hold.
        package let title: String
        /// What is wrong, and what follows from it.
        package let meaning: String
        /// What to do about it, as a clause.
        package let advice: String

        fileprivate init(
            _ messageID: String?, _ level: LogMessage.Level, disarms: Bool = false,
            _ title: String, _ meaning: String, _ advice: String
        ) {
            (self.messageID, self.level, self.disarms) = (messageID, level, disarms)
            (self.title, self.meaning, self.advice) = (title, meaning, advice)
        }
    }

    /// What to do about a finding of this kind, as a clause.
    func advice(about subject: Finding.Subject) -> String {
        row(subject.services.first?.text ?? "SERVICE", subject.unit?.text ?? "UNIT").advice
    }

    /// The event of the log that tells that a finding of this kind is over.
    package var end: LogMessage.Kind {
        switch self {
        case .source, .documentRefused: .sourceRecovered
        case .stateDirectory, .runtimeDirectory, .unreadableRecord: .recordsRecovered
        case .report: .reportDelivered
        case .bus: .busRecovered
        case .moverSilent: .moverAnswers
        default: .findingOver
        }
    }

    /// Those because of which a gate or its units may not be as decided.
    package static let ofGates: [Finding.Kind] = [
        .bus, .moverSilent, .gate, .unitLate, .unitKilled, .unitFailed, .unitIntruding, .unitLost,
        .unitLeftProcesses, .unitUnattached, .unitUntied, .unitStartWaits,
    ]

    package var row: Row { row("SERVICE", "UNIT") }

    private func row(_ service: String, _ unit: String) -> Row {
        switch self {
        case .noDaemon:
            Row(
                nil, .error, disarms: true,
                "The daemon does not run",
                "The daemon does not run, or does not answer. No gate moves until it does.",
                """
                type 'systemctl status killswitchd'; no gate moves until killswitchd runs; to open a \
                service without it, type 'killswitchctl open \(service) --without-daemon' as root
                """)
        case .configurationRefused:
            Row(
                "7c095e244aa54c4ea28885bac56ab9d7", .error,
                "The configuration is refused",
                """
                The configuration on disk contains mistakes. The last accepted one stays in \
                force, also over restarts, so that a mistake in a file stops no service. The \
                message names file, line and column of each mistake.
                """,
                "correct the file, then type 'killswitchctl reload'")
        case .configurationNotKept:
            Row(
                "a83c80aedd094410a5ce4cd6dd1b64ed", .error,
                "The accepted configuration is not stored",
                "The accepted configuration could not be stored for a start with a wrong one.",
                "free space in the state directory, then type 'killswitchctl reload'")
        case .stateDirectory:
            Row(
                "f4dd403cdbdc4ec5bfc58b869206a15d", .error, disarms: true,
                "A file of the state directory could not be written",
                """
                Data that must survive a restart could not be written, for example because the \
                disk is full, or because somebody has deleted the directory. The decision is in \
                force. The write is retried after 1, 2, 4 and so on seconds, at most every 60. \
                Until it succeeds, a restart of the daemon forgets orders and the highest \
                versions of signed documents, so that an older document would be accepted.
                """,
                """
                free space or repair the file system; killswitchd retries. Do not restart \
                killswitchd before that: it would forget orders and accepted versions. If the \
                directory is gone for good, 'systemctl restart killswitchd' makes it; then give \
                your orders again
                """)
        case .runtimeDirectory:
            Row(
                "a9f5f523a4d147d9b3ed2234247bd411", .error, disarms: true,
                "A file of the runtime directory could not be written",
                """
                A decision could not be written, for example because the disk is full. The \
                decision is in force. The old file is complete, but outdated. The write is \
                retried after 1, 2, 4 and so on seconds, at most every 60.
                """,
                "free space or repair the file system; killswitchd retries")
        case .unreadableRecord:
            Row(
                "5b1d4c8e2f9a47d3a6c07e914be3d258", .error, disarms: true,
                "A stored file cannot be read",
                """
                The disk fails, the owner or the mode of the file is wrong, or another version \
                has written it. What it may say is kept: what may be ordered closed stays \
                closed. The file is read again until it can be, and nothing writes over it.
                """,
                """
                repair the file, or its owner and mode: it is read again until it can be. Or \
                give your orders: 'killswitchctl open SERVICE' opens a service, and the \
                file is then kept as NAME.unreadable-TIME
                """)
        case .controlSocket:
            Row(
                "cdecff15bc2f4252bfdb96cc59b229fc", .error,
                "There is no control socket",
                """
                The daemon cannot listen for killswitchctl. It still follows flags and makes \
                decisions, but orders and reload do not work. The message names the obstacle.
                """,
                "remove what is in the way, then type 'systemctl restart killswitchd'")
        case .metrics:
            Row(
                "46c2dd49c6ba489ab71a74d6fae1a966", .warning,
                "The metrics are not written",
                """
                A file of metrics cannot be written. Services and units are not affected. See \
                killswitchd-metrics(7).
                """,
                """
                let the daemon's user write there, or correct 'textfile'; killswitchd retries \
                every 30 s
                """)
        case .report:
            Row(
                "af94fef4e8a5499f901477a52ed551be", .warning,
                "The state of the host is not reported",
                """
                The server or the cluster of [report] did not take the last reports. \
                Services and units are not affected. The present state is sent again after a \
                growing wait of at most 5 minutes, or as long as the server asks to be left \
                alone, at most an hour.
                """,
                """
                see that this host reaches the server or the cluster of [report], and its \
                credentials; killswitchd retries
                """)
        case .descriptors:
            Row(
                "195efd3c436346278c52c49f690caa50", .warning,
                "The daemon has most of its descriptors open",
                "The daemon has most of the descriptors open that it may have.",
                "raise LimitNOFILE= in the unit of the daemon")
        case .bus:
            Row(
                "60dabeda9b274935807e9e6f295f2f3c", .warning, disarms: true,
                "The connection to systemd is lost",
                """
                The message bus cannot be reached, or systemd does not answer on it. Gates are \
                moved all the same, because killswitchd-gates.service needs no bus. But nobody \
                sees what became of the units: until the bus is back they are unknown, and a gate \
                that somebody else moves is not put back. The connection is retried after 1, 2, 4 \
                and so on seconds, at most every 60.
                """,
                "type 'systemctl status dbus'; only what is seen of units is affected")
        case .moverSilent:
            Row(
                "0d4725dcbe0b4fc8a0c9435118e1c8cb", .error, disarms: true,
                "Nobody moves gates",
                """
                The daemon has no right to start or stop anything. It writes what is to be moved \
                into its files, and asks killswitchd-gates.service, which has not answered for a \
                second: the gates and their units stay as they are. It is started again by \
                itself, and then carries out what the files say by then. While systemd executes \
                itself anew this lasts a moment.
                """,
                "see 'systemctl status killswitchd-gates.service killswitchd-gates.socket'")
        case .gate:
            Row(
                "b417d3f83eed49f4bf458511ce4ff230", .error, disarms: true,
                "The gate of service @KILLSWITCH_SERVICE@ cannot be moved",
                """
                systemd refuses to move a gate. The decision is in force and its files are \
                written, but attached units are not stopped or started. The move is retried after \
                1, 2, 4 and so on seconds, at most every 60. If the unit was not found, the \
                targets of the package are missing.
                """,
                "see 'journalctl -b _PID=1'; killswitchd retries")
        case .notice:
            Row(
                "a7d24c1be05f4f0c8b93e6d1720fa58c", .error,
                "The notice units of service @KILLSWITCH_SERVICE@ were not started",
                """
                The units that 'attach --on notice' attaches, or 'on_change' lists, cannot be \
                started, or were not started within an hour: then the news is too old for them, \
                and the journal alone has it. It ends when 'killswitch-notice@SERVICE.target' or \
                'killswitch-change@SERVICE.target' is started, also by hand.
                """,
                """
                repair it, then type 'systemctl start killswitch-notice@\(service).target' (or \
                killswitch-change@) to tell the last news
                """)
        case .unitLate:
            Row(
                "c41beed77b6a4a139962726f71c41e79", .error,
                "Unit @KILLSWITCH_UNIT@ has not stopped",
                """
                The gate is closed, but the unit has not stopped within its own stop limit \
                (TimeoutStopSec=, or 90 s if that is infinity).
                """,
                "see 'systemctl status \(unit)'")
        case .unitKilled:
            Row(
                "bf3b20113a2a4be0bf60a88dbf1be31d", .warning,
                "Unit @KILLSWITCH_UNIT@ was killed when the gate closed",
                """
                The unit did not stop by itself within TimeoutStopSec=, and systemd has killed \
                it. The unit is down. It may have lost unfinished work: find out why it does not \
                end on SIGTERM.
                """,
                "see 'systemctl status \(unit)'")
        case .unitFailed:
            Row(
                "218ba42eec3b4b6cadcd2cd4b4d7f60a", .error,
                "Unit @KILLSWITCH_UNIT@ has failed behind an open gate",
                """
                The gate is open, so the unit should run, but it has failed, or an assertion in \
                its unit file (such as AssertPathExists=) has refused its start. killswitchd \
                does not start it again.
                """,
                "see 'systemctl status \(unit)'")
        case .unitIntruding:
            Row(
                "18dd91b5dc694ff797a9517e10bf2dd7", .warning,
                "Unit @KILLSWITCH_UNIT@ ran behind a closed gate",
                """
                The unit is attached to a service whose gate is closed, but it runs, usually \
                because it was attached while it ran. killswitchd stops it.
                """,
                "find out who starts it: 'journalctl -b -u \(unit)'")
        case .unitLost:
            Row(
                "58ad0f967167409aaa57dc7fc1a63806", .warning, disarms: true,
                "systemd does not tie unit @KILLSWITCH_UNIT@ to its gate",
                """
                The unit is attached, but its unit file is gone, or it is masked. systemd \
                forgets the drop-in of such a unit. It may run on behind a closed gate, and an \
                open gate cannot start it. As an error: it runs behind a closed gate, which did \
                not stop it. If it still runs, stop it with 'systemctl stop UNIT'. If the \
                service does not need it, detach it.
                """,
                "see 'systemctl status \(unit)'")
        case .unitLeftProcesses:
            Row(
                "d3f81d19daf14e30a9a0be57c5580d57", .error,
                "Processes of unit @KILLSWITCH_UNIT@ run on behind the closed gate",
                """
                The service is closed, and systemd calls the unit inactive. But KillMode=process \
                or KillMode=none in its unit file leaves processes alone, and some run on. The \
                unit does not count as down until they have ended. With KillMode=mixed systemd \
                ends them itself.
                """,
                "end them with 'systemctl kill \(unit)', or set another KillMode=")
        case .unitUnattached:
            Row(
                "b378d6c4279c42b08ed6ab42e7ab9a89", .error, disarms: true,
                "Unit @KILLSWITCH_UNIT@ is in the configuration, and is not attached",
                """
                The configuration lists the unit in 'units' of the service or in [attached], but \
                it is not tied to the gate: the switch does not stop it, or something else \
                starts it. The message says why.
                """,
                """
                correct the unit, or 'units' in the configuration, then type 'killswitchctl \
                reload'
                """)
        case .unitUntied:
            Row(
                "247b84fc37524c93acd3e0d37988993e", .error, disarms: true,
                "A drop-in of unit @KILLSWITCH_UNIT@ has gone",
                """
                By that drop-in systemd tied the unit to its gate. Without it the unit runs on \
                behind a closed gate, or can be started there. killswitchd has it made again at \
                once, and after that at most every ten minutes. The message names the file and \
                how often it went. The usual causes are 'systemctl revert', and a configuration \
                management that removes the drop-ins it does not know.
                """,
                """
                find out what removes it: 'systemctl revert UNIT', or a tool that purges \
                /etc/systemd/system
                """)
        case .unitStartWaits:
            Row(
                "151861828e9141cbbfee4f69da71c0f7", .warning,
                "A start of unit @KILLSWITCH_UNIT@ waits until its gate has closed",
                """
                Somebody has started the unit while its gate closes. systemd holds the start \
                until the other units of the gate have stopped, and refuses it then. The entry \
                names a unit that still stops. To take the start back, find the number of its \
                job with 'systemctl list-jobs', and type 'systemctl cancel NUMBER'.
                """,
                "see 'systemctl list-jobs' for the start")
        case .unitsOrphaned:
            Row(
                "891932f36ddc4e3ca7bc5a117361bbcb", .warning, disarms: true,
                "Units are attached to service @KILLSWITCH_SERVICE@ that nobody lists",
                """
                Units are attached to a service that is not configured, and whose gate does not \
                move any more; or the configuration lists them no longer, and the gate is not \
                open. They stay attached, because a change of the configuration starts nothing. \
                List units of services that are not configured with 'killswitchctl units \
                --orphans'.
                """,
                """
                list them again and type 'killswitchctl reload', or: killswitchctl detach --all \
                \(service)
                """)
        case .invalidAnswer:
            Row(
                "368aa0f627d449838b1d842c654e99eb", .warning,
                "An answer of source @KILLSWITCH_SOURCE@ is invalid",
                """
                The flags of the source can be read, but not by the format of the service: a key \
                is missing, or the format does not know a value. The last good flags stay in \
                force. killswitch-flags(7) explains the formats.
                """,
                "correct the flags at the source; an invalid answer changes nothing")
        case .awaitingSignature:
            Row(
                "f8a38b40bd0b4fb789ecc801c62beefe", .warning,
                "Newer flags of service @KILLSWITCH_SERVICE@ wait for signatures",
                "Newer flags wait for more people to sign them.",
                """
                have more people sign the same document with 'killswitchctl sign'; until then \
                nothing changes
                """)
        case .endUnreadable:
            Row(
                "4495e41b3ee940239c06253b15fa5f77", .warning,
                "The end of service @KILLSWITCH_SERVICE@ is not a date",
                """
                The flags announce an end, but its text is not a date. The service counts down, \
                and the days left are unknown.
                """,
                "write the end as 2027-03-31T00:00:00+09:00")
        case .timeZone:
            Row(
                "62339c5853b4476b97892b6b0c0b8dae", .warning,
                "The time zone of service @KILLSWITCH_SERVICE@ cannot be read",
                """
                The file of the time zone cannot be read. What was stored of the zone counts; if \
                nothing was, ends without an offset from UTC are held, and no days are counted. \
                The advice names the package to install.
                """,
                "install the time zone data of this system, then type 'killswitchctl reload'")
        case .versionUnknown:
            Row(
                "4e915cca8b1c4efe891cb41f1d2f33b2", .warning,
                "The installed version of @KILLSWITCH_SERVICE@ is not known",
                """
                The flags require a version, but the installed version is not configured, or its \
                file cannot be read. Until it is known, no version is required.
                """,
                "set 'installed_version' in the service, or correct the file that it names")
        case .valueInvalid:
            Row(
                "1c0a26b92ad04b519554f58cc7bbc83d", .warning,
                "A remote value of @KILLSWITCH_SERVICE@ cannot be read",
                """
                The flag has another type than the configuration requires, or it is missing and \
                has no default. The value does not change.
                """,
                "correct the flag, or the type of the value")
        case .stale:
            Row(
                "f2d6d339b3a14103851b7735604fd891", .warning, disarms: true,
                "The flags of service @KILLSWITCH_SERVICE@ are too old",
                "The source has not confirmed the flags for max_stale, and when_stale decides.",
                "'killswitchctl refresh' shows why the source fails; max_stale sets the limit")
        case .expired:
            Row(
                "ea940e6e50194292b10823f9a5742611", .warning, disarms: true,
                "The flags of service @KILLSWITCH_SERVICE@ have expired",
                """
                The time 'expires' of signed flags has passed without newer ones, and when_stale \
                decides.
                """,
                "publish newer flags; the time 'expires' of these has passed")
        case .unproved:
            Row(
                "2ba7cdfc766d4aec80e96d216c3038da", .warning, disarms: true,
                "The signatures under flags in force do not count any more",
                "Flags in force have no signature any more that counts.",
                "have a listed signer sign the flags, or put their signer back in the list")
        case .unknown:
            Row(
                "2a280b6b61094b75997c7804100e16ca", .warning, disarms: true,
                "The flags of service @KILLSWITCH_SERVICE@ never came",
                "The source has never given valid flags, and when_unknown decides.",
                "see why the source does not answer; when_unknown decides until it does")
        case .clock:
            Row(
                "f8e41d508ab745f89c7177c054464463", .warning, disarms: true,
                "Something contradicts the clock of this host",
                """
                The clock of this host is contradicted, or that of a server or a signer is far \
                from it, or an end or the end of an order waits because nothing confirms the \
                clock.
                """,
                """
                type 'timedatectl set-ntp true' to have the clock of this host synchronised; \
                'killswitchctl status' names what differs from it
                """)
        case .closingHeld:
            Row(
                "1a4398a6c9e74f5cb1d998f7f6c3353f", .error, disarms: true,
                "The closing of service @KILLSWITCH_SERVICE@ is held",
                """
                The host guard holds the service open: more services would close at once than \
                close_at_once allows.
                """,
                """
                if the closing is intended, type 'killswitchctl confirm \(service)'; if not, \
                correct the flags
                """)
        case .stepHeld:
            Row(
                "68caaf5d5aea4eda9f8a7c01546e219f", .warning, disarms: true,
                "A guard holds a step of service @KILLSWITCH_SERVICE@",
                "A guard does not let a step of a rollout come, or the turn of this host to open.",
                """
                'killswitchctl explain \(service)' shows which address the guard asks; if the \
                step is safe although the guard does not pass, type 'killswitchctl confirm \
                \(service)'; if not, correct the flags
                """)
        case .overrideEnds:
            Row(
                "b0d3a9c2f6c14be58c2f0a7f4a3d9e61", .notice,
                "An order for service @KILLSWITCH_SERVICE@ ends soon",
                """
                An operator's order ends soon. Then the flags decide again, which may open or \
                close the gate.
                """,
                """
                to extend the order, type 'killswitchctl open \(service)' or 'killswitchctl close \
                \(service)' again; otherwise the flags decide
                """)
        case .overrideStands:
            Row(
                "5f0c7a3be41d4c0c9a6a5de2b8a7f913", .warning,
                "An order for service @KILLSWITCH_SERVICE@ has stood for a day and has no end",
                """
                An operator's order that stands until it is released is older than a day. The flags \
                do not decide meanwhile.
                """,
                """
                if the order is to end, type 'killswitchctl release \(service)'; to give it an \
                end, type 'killswitchctl open \(service)' or 'killswitchctl close \(service)' with \
                --for or --until
                """)
        case .drillFailed:
            Row(
                "d3272749c99e4404a814ff0f0913231e", .error,
                "The last drill of service @KILLSWITCH_SERVICE@ has failed",
                """
                A unit has not stopped in the last drill, or has not started again, or the gate \
                was not moved. In an emergency the same would happen.
                """,
                """
                correct the unit, then type 'killswitchctl drill \(service)': a drill that \
                succeeds ends the problem
                """)
        case .unreadableState:
            Row(
                nil, .error,
                "The state file of a service cannot be read",
                "The state file of a service cannot be read.",
                "see killswitchd(8), FILES; a running daemon writes it again")
        case .source:
            Row(
                "58025f49994a49c4872cbe2e99833e09", .warning, disarms: true,
                "Source @KILLSWITCH_SOURCE@ brought no flags",
                """
                The fetch from the source failed, or the answer contains no flags. An error is \
                not an order: the last good flags stay in force, and the fetch is retried. It is \
                an alarm for 'status --check' when the flags are older than three intervals.
                """,
                """
                see that this host reaches the source, and that its answer is valid; killswitchd \
                retries
                """)
        case .documentRefused:
            Row(
                "3df730c70f0e4fd2a0477ccff9defe22", .warning, disarms: true,
                "A signed document of source @KILLSWITCH_SOURCE@ is refused",
                """
                A signed document is refused; the word in quotes is among the Reasons of \
                killswitchd(8). The last good flags stay in force. It is an alarm when the flags \
                are older than three intervals.
                """,
                """
                look up the quoted word in killswitchd(8), Reasons; 'killswitchctl verify' tests \
                a document
                """)
        case .mirror:
            Row(
                "9b52d74199e8421584918a5fda2bc69f", .warning,
                "A mirror of source @KILLSWITCH_SOURCE@ is behind",
                """
                A mirror gives an older document than one that was accepted, or none. Orders \
                reach this host by the other mirrors. It is an alarm when it lasts for three \
                rounds: three intervals for each mirror.
                """,
                """
                publish the newest document there too; orders reach this host by the other \
                mirrors
                """)
        case .signersUnreadable:
            Row(
                "2ff7f0a87747476fb1c1de75e2632497", .warning, disarms: true,
                "The signers of source @KILLSWITCH_SOURCE@ cannot be read",
                """
                The file 'signers' of a source is missing, has a line that cannot be read, or \
                can be written by somebody else. No new document counts, not even one by a \
                signer of another line: the broken line may say that two of the others are one \
                person. The flags in force stay.
                """,
                "correct the file, its owner or its mode; it is read again as soon as it changes")
        case .sourceUnwatched:
            Row(
                "a3c1c6f0b2f84e0e9d0b9f5f7f0c2d14", .warning,
                "A source cannot be watched",
                """
                The flags of the source are still read at every interval, but changes are not \
                noticed at once. Either the kernel refuses to watch a file, usually because a \
                limit of inotify(7) is reached: fs.inotify.max_user_instances or \
                max_user_watches. Or the server does not announce changes: its stream cannot be \
                opened, or ends early. This is no alarm.
                """,
                "nothing, if a change may wait for the next poll")
        case .sourceWarning:
            Row(
                "179acba2080b4d96b3a37ff2219b5a54", .warning,
                "Source @KILLSWITCH_SOURCE@ is probably not as meant",
                """
                The flags are valid and in force. The message names the probable mistake, such \
                as a condition that counts as false because it cannot be evaluated, a parameter \
                without a value for a server, or a text that was cut.
                """,
                "check whether this is intended; the flags are in force")
        }
    }
}
