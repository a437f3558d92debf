import Glibc
import Support
import Testing

struct PortTests {
    /// A program that starts while a port is looked for does not keep it.
    @Test(.timeLimit(.minutes(10))) func aPortStaysFreeBesideProgramsThatStart() async throws {
        async let programs = (0..<200).map { _ in try Program("/bin/sleep", ["60"]) }
        var taken = 0
        for _ in 0..<500 {
            guard let server = try bound(to: try freePort()) else {
                taken += 1
                continue
            }
            close(server)
        }
        #expect(try await programs.count == 200)
        #expect(taken == 0)
    }
}
