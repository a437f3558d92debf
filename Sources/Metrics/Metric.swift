/// Every metric of the daemon: name, type and meaning. killswitchd-metrics(7) lists them.
package enum Metric: Int, CaseIterable, Sendable {
    case buildInfo, alive, configurationRefused, movesGates, closingsHeld, problems, guardPasses
    case sourceUp, sourceInterval, flagsConfirmed, fetches, fetchesCreated
    case serviceState, reasonInfo, gateWantedOpen, wouldClose, gateOpen, daysLeft, end,
        stateChanges, flagsInfo
    case units, unitsUnwanted, unitUnwanted, refusedStarts, lastStop, lastStart, drainEnd
    case overrideSince, overrideEnd, closingHeld, stepHeld
    case drill, drillSuccess, drillLastSuccess, runbookInfo

    /// The name, by the rules of Prometheus: base units, and `_total` for counters.
    package var name: String {
        switch self {
        case .buildInfo: "killswitch_build_info"
        case .alive: "killswitch_alive_timestamp_seconds"
        case .configurationRefused: "killswitch_configuration_refused"
        case .movesGates: "killswitch_moves_gates"
        case .closingsHeld: "killswitch_closings_held"
        case .problems: "killswitch_problems"
        case .guardPasses: "killswitch_guard_passes"
        case .sourceUp: "killswitch_source_up"
        case .sourceInterval: "killswitch_source_interval_seconds"
        case .flagsConfirmed: "killswitch_flags_confirmed_timestamp_seconds"
        case .fetches: "killswitch_fetches_total"
        case .fetchesCreated: "killswitch_fetches_created"
        case .serviceState: "killswitch_service_state"
        case .reasonInfo: "killswitch_reason_info"
        case .gateWantedOpen: "killswitch_gate_wanted_open"
        case .wouldClose: "killswitch_would_close"
        case .gateOpen: "killswitch_gate_open"
        case .daysLeft: "killswitch_days_left"
        case .end: "killswitch_end_timestamp_seconds"
        case .stateChanges: "killswitch_state_changes_total"
        case .flagsInfo: "killswitch_flags_info"
        case .units: "killswitch_units"
        case .unitsUnwanted: "killswitch_units_unwanted"
        case .unitUnwanted: "killswitch_unit_unwanted"
        case .refusedStarts: "killswitch_refused_starts_total"
        case .lastStop: "killswitch_last_stop_seconds"
        case .lastStart: "killswitch_last_start_seconds"
        case .drainEnd: "killswitch_drain_end_timestamp_seconds"
        case .overrideSince: "killswitch_override_timestamp_seconds"
        case .overrideEnd: "killswitch_override_end_timestamp_seconds"
        case .closingHeld: "killswitch_closing_held"
        case .stepHeld: "killswitch_step_held"
        case .drill: "killswitch_drill_timestamp_seconds"
        case .drillSuccess: "killswitch_drill_success"
        case .drillLastSuccess: "killswitch_drill_last_success_timestamp_seconds"
        case .runbookInfo: "killswitch_runbook_info"
        }
    }

    /// What it is, as a sentence without a full stop: the text after `# HELP`.
    package var help: String {
        switch self {
        case .buildInfo: "The version of the daemon; always 1"
        case .alive: "When the daemon last gave a sign of life; every 30 s while it works"
        case .configurationRefused:
            "1 if the configuration on disk is refused and the last accepted one is in force"
        case .movesGates: "1 if the daemon moves gates, by the option --gates"
        case .closingsHeld: "How many closings the host guard holds until killswitchctl confirm"
        case .problems:
            "How many problems of this kind there are, as killswitchctl status --check lists them"
        case .guardPasses:
            "1 if the guard passed when it was last asked, 0 if not; absent unless that was lately or a step waits"
        case .sourceUp: "1 if the source has answered since the start and its last fetch was good"
        case .sourceInterval:
            "The time between two polls; longer than configured where the flags ask for that"
        case .flagsConfirmed: "When the source last confirmed its flags"
        case .fetches:
            "Fetches by result; begins anew with the daemon, see killswitch_fetches_created"
        case .fetchesCreated: "When killswitch_fetches_total began to count"
        case .serviceState: "1 for the state of the service, 0 for the other states"
        case .reasonInfo: "The reason of the state; always 1"
        case .gateWantedOpen:
            "1 if the gate is to be open, 0 if closed; absent while the service is undecided, and with enforce = false"
        case .wouldClose:
            "1 if a service with enforce = false would be closed, 0 if open; absent for the others"
        case .gateOpen:
            "1 if the gate is open in fact, 0 if closed; it follows once every unit has obeyed"
        case .daysLeft:
            "Calendar days until the announced end, or until the next planned maintenance"
        case .end: "The announced end"
        case .stateChanges: "Changes of state; kept over restarts of the daemon and reboots"
        case .flagsInfo: "The source, version and signers of the flags that have decided; always 1"
        case .units: "How many attached units the gate stops or starts"
        case .unitsUnwanted:
            "How many attached units are not as the gate wants them: up while it is closed, or down"
        case .unitUnwanted:
            "1 for an attached unit that is not as the gate wants it; absent for the others"
        case .refusedStarts:
            "Starts of attached units that the gate has refused; begins anew with the daemon"
        case .lastStop:
            "How long the last closing took until every unit was down; absent after a restart"
        case .lastStart:
            "How long the last opening took until every unit was up; absent after a restart"
        case .drainEnd:
            "When the units stop that run on behind the closed gate; absent without a drain"
        case .overrideSince: "When the operator's order in force was given"
        case .overrideEnd: "When the operator's order in force ends by itself"
        case .closingHeld:
            "1 for a service whose closing the host guard holds; absent for the others"
        case .stepHeld:
            "1 for a service whose step a guard holds until it passes or killswitchctl confirm; absent for the others"
        case .drill: "When the last drill ended"
        case .drillSuccess: "1 if the last drill succeeded, 0 if it failed"
        case .drillLastSuccess: "When the last successful drill ended"
        case .runbookInfo:
            "The URL of the page that says what to do when the service is closed; always 1"
        }
    }

    /// The word after `# TYPE`.
    package var type: String { name.hasSuffix("_total") ? "counter" : "gauge" }
}
