import CivilTime
import Decision
import Glibc
import JSON
import Storage
import Testing

/// What files cost that hundreds of services write after one answer: as a ratio, because hosts differ.
@Suite struct FileCostTests {
    /// The least of several times of this thread's processor, in nanoseconds.
    private static func cost(_ work: () throws -> Void) rethrows -> Int {
        let clock = {
            var time = timespec()
            unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        return try (0..<5).map { _ in
            let start = clock()
            try work()
            return clock() - start
        }.min() ?? 0
    }

    /// 300 services with three values of backslashes wrote `state.env` for 2.3 s.
    @Test(arguments: ["\\", "é"])
    func aTextWithEscapesCostsLittleMoreThanAnother(_ letter: String) throws {
        let cost = { (letter: String) in
            var verdict = try verdict(.running, .open)
            verdict.values = ["v": .string(String(repeating: letter, count: 15_000))]
            let (record, service) = (try record(verdict), try service())
            return Self.cost { _ = EnvironmentFile.text(of: record, for: service) }
        }
        let (escaped, plain) = (try cost(letter), try cost("x"))
        #expect(escaped < 10 * plain, "\(escaped) ns, and \(plain) ns")
    }
}
