/* libsystemd as Swift sees it: the event loop, notifications, the journal, the bus. And the kernel's own
 * calls that need a header. */
#include <malloc.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

/* What Swift code assumes of structures that it cannot import as they are: a control message with one descriptor, and
 * the name behind an event of inotify. On each machine, so that another one does not compile rather than misread. */
_Static_assert(sizeof(struct cmsghdr) == sizeof(size_t) + 2 * sizeof(int) &&
                   offsetof(struct cmsghdr, cmsg_level) == sizeof(size_t) &&
                   offsetof(struct cmsghdr, cmsg_type) == sizeof(size_t) + sizeof(int) &&
                   CMSG_LEN(sizeof(int)) == sizeof(size_t) + 3 * sizeof(int),
               "PassedDescriptor spells out a control message");
_Static_assert(sizeof(struct inotify_event) == offsetof(struct inotify_event, name),
               "Inotify reads the name behind an event");
_Static_assert(sizeof(void *) == 8 && sizeof(long) == 8, "the programs are for machines of 64 bits");

/* The type of a file system is a macro of another header, and its field has another type on each machine. */
static inline int is_on_procfs(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 && status.f_type == 0x9fa0;
}

/* prctl(2) is variadic, which Swift cannot call. */
static inline int forbid_memory_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
