import Glibc

exit(Killswitchctl.launch())
