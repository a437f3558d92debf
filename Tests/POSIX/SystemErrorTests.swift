import Glibc
import POSIX
import Testing

@Test func aSystemErrorSaysWhatWasTriedAndWhyItFailed() {
    let error = #expect(throws: SystemError.self) { try SystemError.check("add timer", -ENOSPC) }
    #expect(error?.description == "add timer: no space left on device")
    #expect(SystemError.text(of: 9999) == "unknown error 9999")
}

@Test func aResultThatIsNotNegativeIsNoError() throws {
    #expect(try SystemError.check("read", 0) == 0)
    #expect(try SystemError.check("read", 7) == 7)
    #expect(SystemError.negated(7) == 7)
    errno = ENOENT
    #expect(SystemError.negated(-1) == -ENOENT)
}
