extension WrongFile {
    static let firebase = [
        WrongFile(
            "whatFirebaseNeeds",
            """
            [source.a]
            type = "firebase"
            [source.b]
            type = "firebase-server"
            [source.c]
            type = "firebase-server"
            project = "demo"
            api_key = "x"
            """,
            """
            f:1:1: missing key 'project' in [source.a], which type 'firebase' needs
            f:1:1: missing key 'api_key' in [source.a], which type 'firebase' needs
            f:1:1: missing key 'app_id' in [source.a], which type 'firebase' needs
            f:3:1: missing key 'project' in [source.b], which type 'firebase-server' needs
            f:8:1: unknown key 'api_key' in [source.c]; known are 'type', 'interval', \
            'max_backoff', 'timeout', 'max_body', 'defaults', 'project', 'credentials', 'base_url', 'scope', \
            'randomization_id', 'signals'
            """),
        WrongFile(
            "whereSecretsAreNotSent",
            """
            [source.a]
            type = "firebase-server"
            project = "demo"
            base_url = "http://flags.example.com"
            [source.b]
            type = "firebase-server"
            project = "demo"
            base_url = "http://127.0.0.1.example.com"
            [source.c]
            type = "firebase"
            project = "demo"
            api_key = "k"
            app_id = "1:1:web:a"
            base_url = "http://localhost.example.com"
            realtime_url = "https://flags.example.com/?key=x"
            installations_url = "http://[::2]"
            [source.d]
            type = "firebase"
            project = "demo"
            api_key = "k"
            app_id = "1:1:web:a"
            realtime = true
            installations_url = "none"
            """,
            """
            f:4:12: bad URL 'http://flags.example.com' for 'base_url' in [source.a]: write \
            'https://'; plain http is for this host alone
            f:8:12: bad URL 'http://127.0.0.1.example.com' for 'base_url' in [source.b]: write \
            'https://'; plain http is for this host alone
            f:14:12: bad URL 'http://localhost.example.com' for 'base_url' in [source.c]: write \
            'https://'; plain http is for this host alone
            f:15:16: bad URL 'https://flags.example.com/?…' for 'realtime_url' in \
            [source.c]: it has a query; paths are added to its end
            f:16:21: bad URL 'http://[::2]' for 'installations_url' in [source.c]: write \
            'https://'; plain http is for this host alone
            f:22:1: 'realtime' in [source.d] needs an installation: 'installations_url' is \
            "none"
            """),
        WrongFile(
            "whatIsNoNameAndNoSignal",
            """
            [source.a]
            type = "firebase-server"
            project = "../demo"
            credentials = "a/b"
            scope = ""
            randomization_id = ""
            signals = { tier = true }
            [source.b]
            type = "firebase-server"
            project = "demo"
            signals = ["gold"]
            [source.c]
            type = "firebase"
            project = "demo"
            api_key = "a key"
            app_id = 5
            realtime = "yes"
            """,
            """
            f:3:11: bad project '../demo' for 'project' in [source.a]: write the id of the \
            project: lower-case letters, digits and '-'
            f:4:15: bad credential 'a/b' for 'credentials' in [source.a]: write the name of a \
            credential, without '/', or an absolute path
            f:5:9: bad scope '' for 'scope' in [source.a]: it is empty, or holds a non-ASCII \
            character
            f:6:20: bad id '' for 'randomization_id' in [source.a]: it is empty
            f:7:11: bad signal a table for 'signals' in [source.a]: the value of 'tier' is a \
            boolean, neither a string nor a finite number
            f:11:11: wrong type for 'signals' in [source.b]: expected a table such as { tier = \
            "gold", build = 42 }, found an array
            f:15:11: bad value 'a key' for 'api_key' in [source.c]: it is empty, or holds a \
            blank or a non-ASCII character
            f:16:10: wrong type for 'app_id' in [source.c]: expected a string, found an integer
            f:17:12: wrong type for 'realtime' in [source.c]: expected true or false, found a \
            string
            """),
    ]
}
