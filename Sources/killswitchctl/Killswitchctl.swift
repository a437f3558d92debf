import ArgumentParser

/// The command line: its commands, and what they share.
struct Killswitchctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "killswitchctl",
        abstract: "Ask what killswitchd has decided, and order it about.",
        discussion: """
            Reading needs no privilege and no running daemon: the commands read the files that the \
            daemon writes. Acting is for root and the group killswitchd, and goes over the daemon's \
            socket.

            example: killswitchctl is-open shop && start-the-shop

            See killswitchctl(1).
            """,
        version: "0.1.0",
        subcommands: [
            Status.self, IsOpen.self, Get.self, Wait.self, WatchServices.self, Explain.self,
            Simulate.self, History.self, Run.self, Force.self, Release.self, Refresh.self,
            Activate.self, Reload.self, Forget.self, Confirm.self, Attach.self, Detach.self,
            Units.self, Drill.self,
        ])
}

/// Options of every command.
struct CommonOptions: ParsableArguments {
    @Option(
        name: .customLong("runtime-directory"),
        help: ArgumentHelp("Read the files in this directory.", valueName: "directory"),
        completion: .directory)
    var runtimeDirectory: String?
}
