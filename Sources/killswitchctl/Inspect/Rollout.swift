import ArgumentParser
import CivilTime
import Configuration
import Decision
import JSON

/// `killswitchctl rollout FLAGS --hosts N`
struct RolloutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Show how many of N hosts an order closes, and when. Nothing is changed.",
        discussion: """
            The flags are of the format 'switch'. Hosts fall into slots by chance, so that the numbers \
            are those of a large fleet: of a few hosts, some more or fewer may be closed.

            Exits with 1 if the flags are no order, or have no rollout.

            example: killswitchctl rollout new.json --hosts 200
            """)

    @Argument(help: "The flags: a JSON file; '-' is standard input.", completion: .file())
    var flags: String

    @Option(help: "How many hosts there are.") var hosts: Int

    @Option(help: "The member of the flags that holds the order; without it the whole file.")
    var key: String?

    @Option(help: "The time zone in which times are shown; without it the system's.")
    var timeZone: String?

    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...1_000_000_000).contains(hosts) else {
            throw ValidationError("--hosts is a whole number from 1 to 1000000000")
        }
    }

    func run() throws {
        let zone = try SimulatedService.zone(timeZone)
        let answer = try FlagFile(flags).answer(by: nil, fetchedAt: Instant(seconds: 0))
        let format = FormatWord.switchObject.format(key: key, countdownKey: nil)
        let order: Reading
        do { order = try format.read(answer.flags, in: zone) } catch {
            throw CommandFailure("the flags are invalid: \(error)")
        }
        guard let rollout = order.rollout else {
            throw CommandFailure("the order has no rollout: it reaches every host at once")
        }
        var objects: [JSON.Object] = []
        for step in rollout.steps {
            let (time, closed) = (zone.rfc3339(step.at), Rollout.hosts(step.reach, of: hosts))
            let percent = Number(Double(step.reach) / Double(Slot.count / 100)) ?? 0
            objects.append([
                "at": .string(time), "percent": .number(percent),
                "hosts": .number(Number(Int64(closed))),
            ])
            if !json {
                printLine(
                    "\(time)  \(Rollout.share(step.reach))  about \(closed) of \(hosts) hosts")
            }
        }
        guard json else { return }
        printJSON(.object(["hosts": .number(Number(Int64(hosts))), "steps": .objects(objects)]))
    }
}
