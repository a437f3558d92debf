/// What `--help` prints.
enum Usage {
    static let text = """
        usage: killswitchd [--config FILE] [--runtime-directory D] [--state-directory D]
                           [--gates | --once | --check]

        Follows remote flags, decides for each service whether it may run, and writes the
        decision where scripts and people find it.

          -c, --config FILE        the configuration (/etc/killswitchd/killswitchd.toml)
          --runtime-directory D    where state.json and the other files are written
          --state-directory D      where flags and states are kept over restarts
          --once                   decide once, write the files and exit: 0, or 75 when no
                                   source answered
          --check                  check the configuration, print its files and each
                                   setting with its origin, and exit: 0, or 78 when it
                                   is not valid
          --gates                  move systemd units too: stop what is attached to a
                                   service while it is closed
          -h, --help               print this
          --version                print the version

        The directories come from the options, else from RUNTIME_DIRECTORY and
        STATE_DIRECTORY, else they are /run/killswitchd and /var/lib/killswitchd for root,
        $XDG_RUNTIME_DIR/killswitchd and $XDG_STATE_HOME/killswitchd for others.

        example: killswitchd --check --config ./killswitchd.toml

        See killswitchd(8) and killswitchd.toml(5).
        """

    static let hint = "Try 'killswitchd --help'."
}
