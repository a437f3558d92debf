/* libsystemd as Swift sees it: the event loop, notifications, the journal, the bus. And the kernel's own
 * calls that need a header. */
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

/* The type of a file system is a macro of another header, and its field has another type on each machine. */
static inline int is_on_procfs(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 && status.f_type == 0x9fa0;
}

/* prctl(2) is variadic, which Swift cannot call. */
static inline int forbid_memory_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
