extension WrongFile {
    /// Mistakes in a source over HTTP.
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
            f:5:7: bad URL 'flags.example.com' of 'url' in [source.b]: it begins with neither \
            'https://' nor 'http://'
            f:8:7: bad URL 'https://…@flags.example.com/' of 'url' in [source.c]: a user \
            or password does not belong into a URL; use 'bearer'
            f:11:7: bad URL 'https:///flags.json' of 'url' in [source.d]: it names no host
            f:14:7: bad URL 'https://flags.example.com:70000/' of 'url' in [source.e]: its port is \
            no number from 1 to 65535
            f:17:7: bad URL 'https://flags.example.com/a b' of 'url' in [source.f]: it holds a blank \
            or a non-ASCII character; write it as %XX
            f:20:7: bad URL 'https://flags.example.com/#…' of 'url' in [source.g]: what follows \
            '#' is not sent to a server; leave it out
            f:23:7: bad URL 'https://flags'example.com/' of 'url' in [source.h]: its host is no name \
            and no address
            f:25:10: bad URL 'https://flags.example.com:/shop.json' of 'url' in address \
            'https://flags.example.com:/shop.json': its port is no number from 1 to 65535
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
            [service.shop]
            source = "a"
            format = "status"
            """#,
            """
            f:4:11: bad header a table of 'headers' in [source.a]: 'X Team' is no name of a header
            f:8:11: bad header a table of 'headers' in [source.b]: the value of 'X-Team' is not one \
            line of ASCII
            f:12:11: bad header a table of 'headers' in [source.c]: 'authorization' is a secret, \
            which does not belong into this file; use 'bearer'
            f:16:11: bad header a table of 'headers' in [source.d]: 'If-None-Match' is set by the \
            daemon
            f:20:11: bad header a table of 'headers' in [source.e]: the value of 'X-Team' is an \
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
            [service.shop]
            source = "a"
            format = "status"
            """,
            """
            f:4:10: bad credential 'tokens/one' of 'bearer' in [source.a]: write the name of a \
            credential, without '/', or an absolute path
            f:5:1: 'client_key' in [source.a] needs a 'client_certificate' beside it
            f:6:15: bad path 'run/flags.sock' of 'unix_socket' in [source.a]: it does not begin \
            with '/'
            f:7:6: wrong type of 'ca' in [source.a]: expected the name of a credential or an \
            absolute path, found an integer
            f:8:1: unknown key 'path' in [source.a]; known are 'type', 'interval', 'max_backoff', 'timeout', \
            'max_body', 'defaults', 'url', 'ca', 'client_certificate', 'client_key', 'bearer', 'headers', \
            'unix_socket', 'allow_plain_http', 'signers', 'audience'
            """),
    ]
}
