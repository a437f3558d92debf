import CivilTime
import Decision
import Support
import Testing

@Suite struct PublishedVerdictTests {
    @Test func aPollThatBringsNothingNewWritesNothing() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        try play.at(60, "app", answers: #"{"service_end": "no"}"#)
        try play.at(120, "app", answers: #"{"service_end": "no", "other": 1}"#)
        play.expect(
            #"""
            60s app answers {"service_end": "no"} (confirmed)
            120s app answers {"service_end": "no", "other": 1} (stored, confirmed)
            """#)
    }

    @Test func midnightRenewsValidUntilThoughNothingChanges() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        play.at(43_200, .woke)
        play.expect(
            #"""
            43200s woke
                publish shop running open flags #2 until 2027-03-03T00:01:00+00:00
                fetch app
            """#)
    }

    @Test func aFullDiskIsReportedAndRetriedAndPreventsNoClosing() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "over"}"#)
        let full = "write '/state': no space left on device"
        play.at(0, .writeEnded(.storeFlags("app"), problem: full))
        play.at(0, .writeEnded(.publish("shop"), problem: full))
        play.at(1, .woke)
        play.at(1, .writeEnded(.storeFlags("app"), problem: full))
        play.at(1, .writeEnded(.publish("shop"), problem: nil))
        play.at(3, .woke)
        play.at(3, .writeEnded(.storeFlags("app"), problem: nil))
        play.expect(
            #"""
            0s store app write '/state': no space left on device
                log error: cannot store the flags of source 'app': write '/state': no space left on device; retrying
            0s publish shop write '/state': no space left on device
                log error: cannot write the files of service 'shop': write '/state': no space left on device; retrying
            1s woke
                store app: {"service_end": "over"}
                publish shop ended closed flags #2 until 2027-03-02T00:01:00+00:00
            1s store app write '/state': no space left on device
            1s publish shop done
            3s woke
                store app: {"service_end": "over"}
            3s store app done
                log info: every failed write has now succeeded
            """#)
    }

    @Test func theGenerationGoesOnOverReboots() throws {
        var memory = try Memory.stored(
            #"{"service_end": "no"}"#, fetchedAt: "2027-03-01T10:00:00Z", state: .running,
            boot: "another-boot")
        memory.ledger.value?.entries["shop"]?.generation = 41
        var play = try Transcript([try service()], memory: memory).started()
        try play.at(1, "app", answers: #"{"service_end": "over"}"#)
        play.expect(
            #"""
            0s started
                remember and publish shop undecided - awaiting-first-answer #42 until 2027-03-02T00:01:00+00:00
                log notice: shop: undecided (was running): the stored flags would open the gate after this reboot; waiting for source 'app' to answer first
                fetch app
            1s app answers {"service_end": "over"} (stored, confirmed)
                remember and publish shop ended closed flags #43 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was undecided): set by the flags of source 'app'
            """#)
    }

    /// The runtime directory was removed: all its files are written again.
    @Test func aMarkThatCannotBeSetWritesEveryFileAgain() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#)
        let gone = "touch '/run/source.app': no such file or directory"
        play.at(60, .fetchEnded("app", .unchanged))
        play.at(60, .writeEnded(.markConfirmed("app"), problem: gone))
        play.at(61, .woke)
        play.at(61, .writeEnded(.publish("shop"), problem: nil))
        play.at(61, .writeEnded(.markConfirmed("app"), problem: nil))
        play.expect(
            #"""
            60s app unchanged (confirmed)
            60s confirm app touch '/run/source.app': no such file or directory
                log error: cannot mark the flags of source 'app' as confirmed: touch '/run/source.app': no such file or directory; retrying
            61s woke
                publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                confirm app
            61s publish shop done
            61s confirm app done
                log info: every failed write has now succeeded
            """#)
    }
}
