extension LogMessage {
    /// The events of the log, in the order of the page.
    package enum Kind: CaseIterable, Sendable {
        case decided, flagVanished, closingHeld, closingConfirmed, stepConfirmed, overridden,
            released, overrideExpired, forgotten, noticePublished, changesHeld, drilled, gateMoved,
            gateMovedElsewhere, unitsSlow, startRefused, configurationAccepted,
            configurationQuestionable, filesDeleted, sourceRecovered, recordsRecovered,
            reportDelivered,
            busRecovered, moverAnswers, findingOver
    }
}

extension LogMessage.Kind {
    /// What the journal's catalog and killswitchd(8) say of an event.
    package struct Row {
        /// The `MESSAGE_ID`, which never changes.
        package let messageID: String
        /// The event in a line. Here and below the names of journal fields stand for what they hold.
        package let title: String
        /// What has happened, and what follows from it.
        package let meaning: String

        fileprivate init(_ messageID: String, _ title: String, _ meaning: String) {
            (self.messageID, self.title, self.meaning) = (messageID, title, meaning)
        }
    }

    package var row: Row {
        switch self {
        case .decided:
            Row(
                "5fcfbfe15f554b1a8a22afdb89d33e39",
                "The decision on service @KILLSWITCH_SERVICE@ has changed",
                """
                The state of service @KILLSWITCH_SERVICE@, or the reason for it, has changed. \
                State: @KILLSWITCH_STATE@, for the reason @KILLSWITCH_REASON@. killswitchd(8) \
                explains each reason, and what to do about it. Show the reason in full with: \
                killswitchctl get @KILLSWITCH_SERVICE@ reason_text
                """)
        case .flagVanished:
            Row(
                "c77bc91583ed4c9b94c5eac3d988c9a0",
                "Source @KILLSWITCH_SOURCE@ lost a key",
                """
                The source had this key before and does not have it any more. The configuration \
                has a default for the key, which is in force from now on. If that is a mistake, \
                add the key again, or remove the default: a missing key without a default is \
                never an order.
                """)
        case .closingHeld:
            Row(
                "03387b91ad954050b4127492ccb96697",
                "Too many services would close at once",
                """
                More services would close within close_within than close_at_once allows: by one \
                answer, by several, by silence or by a reload. They stay open until an operator \
                confirms the closings. If the closings are intended: killswitchctl confirm \
                SERVICE...|--all. If not, correct the flags.
                """)
        case .closingConfirmed:
            Row(
                "270722ed0fe24af29aed1781efb100a8",
                "An operator has confirmed held closings",
                """
                More services would have closed at once than close_at_once allows, and an \
                operator has confirmed the closings. No action is needed.
                """)
        case .stepConfirmed:
            Row(
                "886f0a41461543ea8643dc089e6dde08",
                "An operator lets held steps come",
                """
                A guard has not let a step of a rollout come, or the turn of this host to open, \
                and an operator has confirmed it. No action is needed.
                """)
        case .overridden:
            Row(
                "8ede5f097b4d448884ae3038e0f6f507",
                "@KILLSWITCH_AUTHOR@ forces a state of service @KILLSWITCH_SERVICE@",
                """
                An operator has ordered a state. It overrides the flags until it expires. End it \
                earlier with: killswitchctl release @KILLSWITCH_SERVICE@
                """)
        case .released:
            Row(
                "acf7d6873a124dbb9c1b452a1a55e778",
                "@KILLSWITCH_AUTHOR@ releases service @KILLSWITCH_SERVICE@ to its flags",
                "An operator has ended an order before its expiry. The flags decide again.")
        case .overrideExpired:
            Row(
                "2910d5a2e01d4f11b5df37a5d869f190",
                "The order of @KILLSWITCH_AUTHOR@ for service @KILLSWITCH_SERVICE@ has expired",
                """
                An operator's order has reached its end. The flags decide again. If it is still \
                needed: killswitchctl open or close @KILLSWITCH_SERVICE@
                """)
        case .forgotten:
            Row(
                "e8876fc6340945a895d333c6de2819ca",
                "The stored flags of source @KILLSWITCH_SOURCE@ are deleted",
                """
                @KILLSWITCH_AUTHOR@ has deleted the stored flags of the source and its highest \
                version. The source is fetched at once. Its services keep their state until it \
                has answered, at most for first_timeout.
                """)
        case .noticePublished:
            Row(
                "3e1f0f4b6a0c4d7b9d6e2a71c5b8f094",
                "Service @KILLSWITCH_SERVICE@ has an announced end or planned maintenance",
                """
                @KILLSWITCH_NOTICE@ killswitchd announces each time of notify_before in \
                killswitchd.toml(5) once. The units that are attached with --on notice run now; \
                killswitchctl units names those that fail.
                """)
        case .changesHeld:
            Row(
                "979271950f044dd6983de15285f738cd",
                "Service @KILLSWITCH_SERVICE@ changes its mind again and again",
                """
                Its flags have changed the decision more often than a service may: an opening, \
                and a change of the state behind the same gate, once in min_closed, at least a \
                second. What came in between was not carried out; the last of it counts. \
                Closings are never delayed by this. Find out who writes the flags.
                """)
        case .drilled:
            Row(
                "7d1f0e6c5b0a4b7e9a0f4a5f2c8d3e16",
                "A drill of service @KILLSWITCH_SERVICE@ has ended",
                """
                A drill has closed the gate for a moment, and has opened it again. As an error: \
                a unit has not stopped, or has not started again, or the gate was not moved. In \
                an emergency the same would happen. Once it is corrected, try again: \
                killswitchctl drill @KILLSWITCH_SERVICE@ A drill that succeeds ends the problem.
                """)
        case .gateMoved:
            Row(
                "ca733bafdb32435fada8734d73b88268",
                "The gate of service @KILLSWITCH_SERVICE@ is @KILLSWITCH_GATE@",
                """
                The gate of service @KILLSWITCH_SERVICE@ follows the decision, and every \
                attached unit follows it: a closed gate stops units, an open gate starts them. \
                The entry has the time that the units took. State: @KILLSWITCH_STATE@. Show the \
                units with: killswitchctl units @KILLSWITCH_SERVICE@
                """)
        case .gateMovedElsewhere:
            Row(
                "144257383e3d45c183d5547b093dc6ba",
                "Somebody else has moved the gate of service @KILLSWITCH_SERVICE@",
                """
                A target of service @KILLSWITCH_SERVICE@ was started or stopped, but not by \
                killswitchd. killswitchd moves it back to @KILLSWITCH_GATE@. To open or close a \
                service while the daemon runs, use killswitchctl open or close. Without the \
                daemon, killswitchctl open @KILLSWITCH_SERVICE@ --without-daemon opens it.
                """)
        case .unitsSlow:
            Row(
                "de5c5cfc7eca4e1ab1686a46b2ef82f9",
                "Units of service @KILLSWITCH_SERVICE@ are not up in their time",
                """
                The gate of service @KILLSWITCH_SERVICE@ has opened, and some of its units are \
                still starting after their start limit (TimeoutStartSec=, or 90 s without one). \
                Until then web servers have sent the page of the service. From now on they send \
                requests to it, because other units may serve, and answer by themselves for a \
                unit that does not. \"systemctl status UNIT\" says what the unit waits for. See: \
                systemctl status @KILLSWITCH_UNIT@
                """)
        case .startRefused:
            Row(
                "2f0d93e9889e47b786bc45ff8ddb2988",
                """
                The gate of service @KILLSWITCH_SERVICE@ has refused to start unit \
                @KILLSWITCH_UNIT@
                """,
                """
                Unit @KILLSWITCH_UNIT@ is attached to service @KILLSWITCH_SERVICE@, which is \
                @KILLSWITCH_STATE@. Nobody can start the unit until the gate opens. systemctl \
                says \"A dependency job failed\" or \"Assertion failed\" for that. Within a \
                minute more refused starts are counted, and told together. The whole reason, and \
                who gave the order: killswitchctl explain @KILLSWITCH_SERVICE@ How many starts \
                of each unit were refused: killswitchctl units @KILLSWITCH_SERVICE@
                """)
        case .configurationAccepted:
            Row(
                "8ca5e2a6aa4649cf8e3890a44f543bb4",
                "The configuration was reloaded",
                "After a reload the configuration on disk is in force.")
        case .configurationQuestionable:
            Row(
                "18c6c69058104f7bb80d9101580f3943",
                "A part of the configuration has no effect",
                """
                The configuration is in force, but a part of it probably does not do what its \
                author intended: a drop-in with another suffix than .toml, or a source that no \
                service uses. The message names it. See killswitchd.toml(5).
                """)
        case .filesDeleted:
            Row(
                "45d40090e87f4cdcbe98429c45c29812",
                "Somebody has deleted files of the daemon",
                """
                Files in the runtime directory or the state directory were missing, and are \
                written again. Find out who deletes them.
                """)
        case .sourceRecovered:
            Row(
                "cb1943ee68c34998ae0e96a041f775c1",
                "A failure of source @KILLSWITCH_SOURCE@ is over",
                """
                The source has given flags again, or the configuration does not ask there any more. No \
                action is needed.
                """)
        case .recordsRecovered:
            Row(
                "fe0041a9df6e4b339c93d74b1b932387",
                "A file can be written or read again",
                """
                What the entry names is over. Another file may have a finding of its own. No action is \
                needed.
                """)
        case .reportDelivered:
            Row(
                "a86a5c1339f2422094ba5f18a4d5addd",
                "A failure to report the state of the host is over",
                """
                The server of [report] has taken the present state of the host, or the configuration \
                names another one or none. No action is needed.
                """)
        case .busRecovered:
            Row(
                "982a356ed2cb4b1cb1254ad20aa93ada",
                "The connection to systemd works again",
                """
                killswitchd compares every gate with its decision, and moves it if they differ. \
                No action is needed.
                """)
        case .moverAnswers:
            Row(
                "5bc10865bb2648c29f2964f9848a57e7",
                "Gates are moved again",
                "killswitchd-gates.service answers again, and has moved the gates as the files say. No action is needed."
            )
        case .findingOver:
            Row(
                "aa82901b37794556b49502746e0b47bf",
                "Something that was wrong is over",
                "What the entry names is not so any more. No action is needed.")
        }
    }
}
