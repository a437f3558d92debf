import Glibc

exit(try FleetBenchmark.run(Array(CommandLine.arguments.dropFirst())))
