/*
 * The daemon's options for getopt_long(3), and that function without its global variables, which
 * Swift 6 cannot name: what it leaves in them is handed back with each option.
 */
#include <getopt.h>

enum option_code {
    OPTION_END = -1,
    OPTION_UNKNOWN = '?', /* getopt_long has complained on stderr */
    OPTION_CONFIG = 'c',
    OPTION_HELP = 'h',
    OPTION_RUNTIME_DIRECTORY = 256,
    OPTION_STATE_DIRECTORY,
    OPTION_GATES,
    OPTION_MOVE_GATES,
    OPTION_ONCE,
    OPTION_CHECK,
    OPTION_PROBE,
    OPTION_VERSION,
};

struct given_option {
    int code;             /* an option_code */
    const char *argument; /* of the option, or null */
    int next_index;       /* of the first argument not looked at yet */
};

static inline struct given_option next_option(int argc, char *const *argv) {
    static const struct option table[] = {
        {"config", required_argument, 0, OPTION_CONFIG},
        {"runtime-directory", required_argument, 0, OPTION_RUNTIME_DIRECTORY},
        {"state-directory", required_argument, 0, OPTION_STATE_DIRECTORY},
        {"gates", no_argument, 0, OPTION_GATES},
        {"move-gates", no_argument, 0, OPTION_MOVE_GATES},
        {"once", no_argument, 0, OPTION_ONCE},
        {"check", no_argument, 0, OPTION_CHECK},
        {"probe", no_argument, 0, OPTION_PROBE},
        {"help", no_argument, 0, OPTION_HELP},
        {"version", no_argument, 0, OPTION_VERSION},
        {0, 0, 0, 0},
    };
    optarg = 0;
    int code = getopt_long(argc, argv, "c:h", table, 0);
    struct given_option given = {code, optarg, optind};
    return given;
}
