extension WrongFile {
    /// Mistakes in a source of type `etcd` or `ofrep`.
    static let streams = [
        WrongFile(
            "clustersThatAreNone",
            """
            [source.a]
            type = "etcd"
            [source.b]
            type = "etcd"
            endpoints = "https://etcd.example.com:2379"
            prefix = ""
            [source.c]
            type = "etcd"
            endpoints = []
            prefix = "/flags/"
            [source.d]
            type = "etcd"
            endpoints = ["https://a:2379", "etcd.example.com:2379"]
            prefix = "/flags/"
            [source.e]
            type = "etcd"
            endpoints = ["https://a:2379/", "https://a:2379"]
            prefix = "/flags/"
            [source.f]
            type = "etcd"
            endpoints = ["https://a:2379/v3"]
            prefix = "/flags/"
            """,
            """
            f:1:1: missing key 'endpoints' in [source.a], which type 'etcd' needs
            f:1:1: missing key 'prefix' in [source.a], which type 'etcd' needs
            f:5:13: wrong type for 'endpoints' in [source.b]: expected a list of URLs such as \
            ["https://etcd-1.example.com:2379"], found a string
            f:6:10: bad prefix '' for 'prefix' in [source.b]: it is empty
            f:9:13: bad list for 'endpoints' in [source.c]: it is empty
            f:13:13: bad endpoint for 'endpoints' in [source.d]: \
            'etcd.example.com:2379': it begins with neither 'https://' nor 'http://'
            f:17:13: bad list for 'endpoints' in [source.e]: it names 'https://a:2379' twice
            f:21:13: bad endpoint for 'endpoints' in [source.f]: 'https://a:2379/v3': leave \
            out what follows the port
            """),
        WrongFile(
            "keysOfAClusterThatNeedEachOther",
            """
            [source.a]
            type = "etcd"
            endpoints = ["https://a:2379"]
            prefix = "/flags/"
            user = "killswitchd"
            client_key = "key"
            [source.b]
            type = "etcd"
            endpoints = ["https://a:2379"]
            prefix = "/flags/"
            password = "etcd-password"
            """,
            """
            f:5:1: 'user' in [source.a] needs a 'password' beside it
            f:6:1: 'client_key' in [source.a] needs a 'client_certificate' beside it
            f:11:1: 'password' in [source.b] needs a 'user' beside it
            """),
        WrongFile(
            "aKeyThatIsGone",
            """
            [source.a]
            type = "etcd"
            endpoints = ["https://a:2379"]
            prefix = "/flags/"
            acknowledge = true
            """,
            """
            f:5:1: unknown key 'acknowledge' in [source.a]; write 'etcd = "SOURCE"' into [report] in its place
            """),
        WrongFile(
            "serversThatAreNone",
            """
            [source.a]
            type = "ofrep"
            [source.b]
            type = "ofrep"
            url = "https://flags.example.com/?stage=test"
            [source.c]
            type = "ofrep"
            url = "https://flags.example.com/ofrep/v1"
            [source.d]
            type = "ofrep"
            url = "https://flags.example.com"
            context = { targetingKey = 7, since = 2027-03-01 }
            [source.e]
            type = "ofrep"
            url = "https://flags.example.com"
            context = "eu"
            stream_hosts = ["events.example.com", "https://a.example.com"]
            max_backoff = "16m"
            """,
            """
            f:1:1: missing key 'url' in [source.a], which type 'ofrep' needs
            f:5:7: bad URL 'https://flags.example.com/?…' for 'url' in [source.b]: paths are \
            added to it; leave out what follows '?'
            f:8:7: bad URL 'https://flags.example.com/ofrep/v1' for 'url' in [source.c]: leave out \
            '/ofrep' and what follows; it is added
            f:12:28: wrong type for 'targetingKey' in [source.d.context]: expected a string, found an \
            integer
            f:12:39: wrong type for 'since' in [source.d.context]: expected a value that JSON has, \
            found a date; JSON has no such value
            f:16:11: wrong type for 'context' in [source.e]: expected a table [source.e.context], \
            found a string
            f:17:16: bad host for 'stream_hosts' in [source.e]: 'events.example.com': it begins with \
            neither 'https://' nor 'http://'
            f:18:15: bad duration '16m' for 'max_backoff' in [source.e]: expected 100ms to 15m
            """),
    ]
}
