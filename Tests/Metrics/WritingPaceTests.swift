import CivilTime
import Metrics
import Testing

/// When the metrics are written.
@Suite struct WritingPaceTests {
    private func moment(_ seconds: Double) -> Boottime {
        Boottime(microseconds: Int64(seconds * 1_000_000))
    }

    private func request(_ pace: inout WritingPace, at seconds: Double) -> Bool {
        pace.request(at: moment(seconds))
    }

    @Test func theFirstChangeIsWrittenSoon() {
        var pace = WritingPace()
        #expect(pace.dueAt == nil)
        #expect(request(&pace, at: 10))
        #expect(pace.dueAt == moment(10.2))
    }

    @Test func aBurstIsOneWrite() {
        var pace = WritingPace()
        #expect(request(&pace, at: 10))
        #expect(!request(&pace, at: 10.1))
        #expect(pace.dueAt == moment(10.2))
        pace.written(at: moment(10.2))
        #expect(pace.dueAt == nil)
    }

    @Test func twoWritesAreFiveSecondsApart() {
        var pace = WritingPace()
        pace.written(at: moment(10))
        #expect(request(&pace, at: 11))
        #expect(pace.dueAt == moment(15))
        pace.written(at: moment(15))
        #expect(request(&pace, at: 45))
        #expect(pace.dueAt == moment(45.2))
    }
}
