import ArgumentParser
import JSON

/// A command that has the daemon do something, and tells what came of it.
protocol Order: ParsableCommand {
    var common: CommonOptions { get }
    /// Whether the answer is printed as it is.
    var json: Bool { get }
    /// The method of the control socket.
    var method: String { get }

    func parameters() throws -> JSON.Object
    /// What was done, and what follows from it, a line each.
    func lines(_ answer: JSON.Object) -> [String]
    /// Throws where the answer is that something failed, after it was printed.
    func check(_ answer: JSON.Object) throws
}

extension Order {
    func run() throws {
        let answer = try DaemonSocket(common).call(method, parameters())
        if json {
            print(JSON.Value.object(answer).serialized(.pretty))
        } else {
            for line in lines(answer) { print(line) }
        }
        try check(answer)
    }

    func check(_ answer: JSON.Object) throws {}
}
