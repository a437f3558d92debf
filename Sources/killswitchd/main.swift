import Glibc

exit(Command.run())
