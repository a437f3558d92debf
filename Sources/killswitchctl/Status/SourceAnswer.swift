import CivilTime
import Control
import Decision
import JSON

/// A source as the running daemon tells of it.
struct SourceAnswer {
    /// The whole answer.
    let object: JSON.Object
    let name: String
    /// How long ago it confirmed its flags; nil where it never did.
    let age: Duration?
    /// Nil while it is being asked.
    let nextPoll: Duration?
    /// Why the last fetch brought nothing.
    let problem: String?
    /// Who follows it.
    let services: [String]

    /// Asks the daemon of this directory for its sources. A daemon that was frozen is given two seconds.
    static func all(in directory: String) throws(CommandFailure) -> [SourceAnswer] {
        let answer = try DaemonSocket(in: directory, patience: .seconds(2)).call("Sources")
        return (answer["sources"]?.array ?? []).compactMap(\.object).map(SourceAnswer.init)
    }

    private init(_ object: JSON.Object) {
        self.object = object
        let seconds = { (key: String) in object[key]?.number?.int64.map { Duration.seconds($0) } }
        name = object["name"]?.string ?? ""
        age = seconds("age")
        nextPoll = seconds("next_poll")
        problem = object["problem"]?.string
        services = object["services"]?.array?.compactMap(\.string) ?? []
    }
}
