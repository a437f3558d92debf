import EventLoop
import SystemdUnits
import Testing

/// Whether the clock is synchronised, where the kernel tells and where it does not.
@Suite(.timeLimit(.minutes(5))) struct ClockSynchronisationTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test(arguments: [true, false])
    func theKernelsWordCountsAtOnce(_ word: Bool) {
        let clock = ClockSynchronisation(loop, address: "unix:path=/nonexistent/bus") { word }
        #expect(clock.value == word)
        clock.clockWasSet()
        #expect(clock.value == word)
    }

    /// A poll wants to know it four times.
    @Test func theKernelIsAskedOnceForAPollAndAgainAfterTheClockWasSet() {
        var questions = 0
        let clock = ClockSynchronisation(loop, address: "unix:path=/nonexistent/bus") {
            questions += 1
            return questions < 3
        }
        #expect([clock.value, clock.value, clock.value, clock.value] == [true, true, true, true])
        #expect(questions == 2)
        clock.clockWasSet()
        #expect(clock.value == false)
    }

    @Test func withoutABusNobodySaysThatItIs() {
        let clock = ClockSynchronisation(loop, address: "unix:path=/nonexistent/bus") { nil }
        #expect(clock.value == false)
        clock.clockWasSet()
        #expect(clock.value == false)
    }
}
