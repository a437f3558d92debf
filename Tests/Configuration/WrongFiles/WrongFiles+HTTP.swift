extension WrongFile {
    static let http = [
        WrongFile(
            "urlsThatAreNone",
            """
            [source.a]
            type = "http"
            [source.b]
            type = "http"
            url = "flags.example.com"
            [source.c]
            type = "http"
            url = "https://user:secret@flags.example.com/"
            [source.d]
            type = "http"
            url = "https:///flags.json"
            [source.e]
            type = "http"
            url = "https://flags.example.com:70000/"
            [source.f]
            type = "http"
            url = "https://flags.example.com/a b"
            [source.g]
            type = "http"
            url = "https://flags.example.com/#now"
            [source.h]
            type = "http"
            url = "https://flags'example.com/"
            [service.shop]
            source = "https://flags.example.com:/shop.json"
            format = "status"
            """,
            """
            f:1:1: missing key 'url' in [source.a], which type 'http' needs
            f:5:7: bad URL 'flags.example.com' for 'url' in [source.b]: it begins with neither \
            'https://' nor 'http://'
            f:8:7: bad URL 'https://…@flags.example.com/' for 'url' in [source.c]: do not \
            write a user or password in a URL; use 'bearer'
            f:11:7: bad URL 'https:///flags.json' for 'url' in [source.d]: it names no host
            f:14:7: bad URL 'https://flags.example.com:70000/' for 'url' in [source.e]: its port is \
            not a number from 1 to 65535
            f:17:7: bad URL 'https://flags.example.com/a b' for 'url' in [source.f]: it holds a blank \
            or a non-ASCII character; write it as %XX
            f:20:7: bad URL 'https://flags.example.com/#…' for 'url' in [source.g]: what follows \
            '#' is not sent to a server; leave it out
            f:23:7: bad URL 'https://flags'example.com/' for 'url' in [source.h]: its host is neither \
            a name nor an address
            f:25:10: bad URL 'https://flags.example.com:/shop.json' for 'url' in address \
            'https://flags.example.com:/shop.json': its port is not a number from 1 to 65535
            """),
        WrongFile(
            "headersThatCannotBeSent",
            #"""
            [source.a]
            type = "http"
            url = "https://flags.example.com/"
            headers = { "X Team" = "shop" }
            [source.b]
            type = "http"
            url = "https://flags.example.com/"
            headers = { X-Team = "shop\r\nX-More: yes" }
            [source.c]
            type = "http"
            url = "https://flags.example.com/"
            headers = { authorization = "Bearer secret" }
            [source.d]
            type = "http"
            url = "https://flags.example.com/"
            headers = { If-None-Match = "*" }
            [source.e]
            type = "http"
            url = "https://flags.example.com/"
            headers = { X-Team = 1 }
            """#,
            """
            f:4:11: bad header a table for 'headers' in [source.a]: 'X Team' is not the name of a header
            f:8:11: bad header a table for 'headers' in [source.b]: the value of 'X-Team' is not one \
            line of ASCII
            f:12:11: bad header a table for 'headers' in [source.c]: 'authorization' is a secret; \
            do not write it in this file; use 'bearer'
            f:16:11: bad header a table for 'headers' in [source.d]: 'If-None-Match' is set by the \
            daemon
            f:20:11: bad header a table for 'headers' in [source.e]: the value of 'X-Team' is an \
            integer, not a string
            """),
        WrongFile(
            "credentialsThatAreNone",
            """
            [source.a]
            type = "http"
            url = "https://flags.example.com/"
            bearer = "tokens/one"
            client_key = "key"
            unix_socket = "run/flags.sock"
            ca = 1
            path = "/a"
            """,
            """
            f:4:10: bad credential 'tokens/one' for 'bearer' in [source.a]: write the name of a \
            credential, without '/', or an absolute path
            f:5:1: 'client_key' in [source.a] needs a 'client_certificate' beside it
            f:6:15: bad path 'run/flags.sock' for 'unix_socket' in [source.a]: it does not begin \
            with '/'
            f:7:6: wrong type for 'ca' in [source.a]: expected the name of a credential or an \
            absolute path, found an integer
            f:8:1: unknown key 'path' in [source.a]; known are 'type', 'interval', 'max_backoff', 'timeout', \
            'max_body', 'defaults', 'url', 'ca', 'client_certificate', 'client_key', 'bearer', 'headers', \
            'unix_socket', 'allow_plain_http', 'signers', 'audience'
            """),
    ]
}
