import Glibc

exit(Entry.run())
