import Glibc

exit(try Benchmark.run())
