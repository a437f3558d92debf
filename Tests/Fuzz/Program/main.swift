// One fuzzing target in a process: `fuzz TARGET [options of libFuzzer] [folders of the corpus]`. Without a
// target it lists them.

import Glibc

guard CommandLine.arguments.count > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1])
else {
    for target in FuzzTarget.allCases { print(target.rawValue) }
    exit(CommandLine.arguments.count > 1 ? 2 : 0)
}
exit(target.drive())
