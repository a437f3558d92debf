extension WrongFile {
    static let values = [
        WrongFile(
            "wrongTypes",
            """
            [source.app]
            type = 1
            path = 2
            interval = 60
            timeout = 1.5
            max_body = true
            [source.other]
            type = "file"
            path = 2
            [service.shop]
            source = 1979-05-27
            format = ["status"]
            time_zone = 12:00:00
            max_stale = 86400
            when_stale = {}
            min_closed = -1
            """,
            """
            f:2:8: wrong type for 'type' in [source.app]: expected 'file', 'http', \
            'etcd', 'ofrep', 'firebase' or 'firebase-server', found an integer
            f:4:12: wrong type for 'interval' in [source.app]: expected a duration, found an \
            integer; write "60s"
            f:5:11: wrong type for 'timeout' in [source.app]: expected a duration, found a float; \
            write a number and a unit, such as "30s"
            f:6:12: wrong type for 'max_body' in [source.app]: expected a number of bytes or a \
            size such as "512KiB", found a boolean
            f:9:8: wrong type for 'path' in [source.other]: expected a path, found an integer
            f:11:10: wrong type for 'source' in [service.shop]: expected a string, found a date
            f:12:10: wrong type for 'format' in [service.shop]: expected 'service-end', 'boolean', \
            'status', 'maintenance' or 'switch', found an array
            f:13:13: wrong type for 'time_zone' in [service.shop]: expected the name of a time \
            zone such as "Asia/Tokyo", found a time
            f:14:13: wrong type for 'max_stale' in [service.shop]: expected a duration or "never", \
            found an integer; write "86400s"
            f:15:14: wrong type for 'when_stale' in [service.shop]: expected 'hold', 'open', \
            'closed' or 'ended', found a table
            f:16:14: wrong type for 'min_closed' in [service.shop]: expected a duration, found an \
            integer; write "30s"
            """),
        WrongFile(
            "wrongValues",
            """
            [source.app]
            type = "file"
            path = ""
            interval = "60"
            timeout = "11m"
            max_body = "65MiB"
            [service.shop]
            source = "app"
            format = "state"
            key = ""
            time_zone = "Asia/Tokio"
            max_stale = "forever"
            when_stale = "opne"
            when_unknown = "hold"
            first_timeout = "99999999999999999999d"
            at_end = "stay"
            update_required = "ignore"
            min_closed = "-5s"
            """,
            """
            f:3:8: bad path '' for 'path' in [source.app]: it is empty
            f:4:12: bad duration '60' for 'interval' in [source.app]: write a number and a unit \
            (ms, s, m, h, d), such as '30s'
            f:5:11: bad duration '11m' for 'timeout' in [source.app]: expected 100ms to 10m
            f:6:12: bad size '65MiB' for 'max_body' in [source.app]: expected 1B to 64MiB
            f:9:10: bad value 'state' for 'format' in [service.shop]: expected 'service-end', \
            'boolean', 'status', 'maintenance' or 'switch'
            f:10:7: bad key '' for 'key' in [service.shop]: it is empty
            f:11:13: unknown time zone 'Asia/Tokio' for 'time_zone' in [service.shop]; did you \
            mean 'Asia/Tokyo'?
            f:12:13: bad duration 'forever' for 'max_stale' in [service.shop]: write a number and \
            a unit (ms, s, m, h, d), such as '30s', or 'never'
            f:13:14: bad value 'opne' for 'when_stale' in [service.shop]: expected 'hold', 'open', \
            'closed' or 'ended'; did you mean 'open'?
            f:14:16: bad value 'hold' for 'when_unknown' in [service.shop]: expected 'open' or \
            'closed'
            f:15:17: bad duration '99999999999999999999d' for 'first_timeout' in [service.shop]: \
            expected 0s to 1h
            f:16:10: bad value 'stay' for 'at_end' in [service.shop]: expected 'ended' or 'keep'
            f:17:19: bad value 'ignore' for 'update_required' in [service.shop]: expected 'open' \
            or 'closed'
            f:18:14: bad duration '-5s' for 'min_closed' in [service.shop]: write a number and a \
            unit (ms, s, m, h, d), such as '30s'
            """),
        WrongFile(
            "sizesAndRanges",
            """
            [source.app]
            type = "file"
            path = "/a"
            interval = "99ms"
            max_body = "1MB"
            [source.other]
            type = "file"
            path = "/a"
            max_body = -1
            [service.shop]
            source = "app"
            format = "status"
            max_stale = "0s"
            min_closed = "25h"
            open_spread = "25h"
            drain = "61m"
            """,
            """
            f:4:12: bad duration '99ms' for 'interval' in [source.app]: expected 100ms to 24h
            f:5:12: bad size '1MB' for 'max_body' in [source.app]: write a number and a unit (B, \
            KiB, MiB), such as '512KiB'
            f:9:12: bad size '-1' for 'max_body' in [source.other]: expected 1B to 64MiB
            f:13:13: bad duration '0s' for 'max_stale' in [service.shop]: expected 1s to 3650d, or \
            'never'
            f:14:14: bad duration '25h' for 'min_closed' in [service.shop]: expected 0s to 24h
            f:15:15: bad duration '25h' for 'open_spread' in [service.shop]: expected 0s to 24h
            f:16:9: bad duration '61m' for 'drain' in [service.shop]: expected 0s to 1h
            """),
        WrongFile(
            "sourcesAndTypesThatAreUnknown",
            """
            [source.app]
            type = "file"
            path = "/a"
            [service.shop]
            source = "ap"
            format = "status"
            [service.blog]
            source = "other"
            format = "status"
            [service.wiki]
            source = "/etc/wiki.json"
            format = "status"
            [service.docs]
            source = "gopher://flags.example.com/shop.json"
            format = "status"
            [source.web]
            type = "ftp"
            url = "ftp://flags.example.com/shop.json"
            """,
            """
            f:5:10: unknown source 'ap' for 'source' in [service.shop]; did you mean 'app'?
            f:8:10: unknown source 'other' for 'source' in [service.blog]; add a table [source.other]
            f:11:10: bad name '/etc/wiki.json' for 'source' in [service.wiki]: expected 1 to 63 of \
            a-z, 0-9, '_' and '-', the first a letter or digit, or an address; did you mean \
            'file:/etc/wiki.json'?
            f:14:10: unknown address 'gopher://flags.example.com/shop.json' for 'source' in \
            [service.docs]; this version follows only 'file:', 'http:' or 'https:'
            f:17:8: unknown type 'ftp' for 'type' in [source.web]; this version follows only 'file', \
            'http', 'etcd', 'ofrep', 'firebase' or 'firebase-server'
            """),
        WrongFile(
            "addressesThatAreNone",
            #"""
            [service.a]
            source = "file:"
            format = "status"
            [service.b]
            source = "file://host/b"
            format = "status"
            [service.c]
            source = "file:/a\u0000b"
            format = "status"
            """#,
            #"""
            f:2:10: bad path '' for 'path' in address 'file:': it is empty
            f:5:10: bad address 'file://host/b' for 'source' in [service.b]: write 'file:/PATH' \#
            or 'file:PATH'
            f:8:10: bad path '/a\u0000b' for 'path' in address 'file:/a\u0000b': it holds a NUL
            """#),
        WrongFile(
            "zonesAndAKeyOfAnotherFormat",
            """
            \(shopTable)
            countdown_key = "x"
            time_zone = "Broken/Zone"
            [service.blog]
            source = "file:/a"
            format = "status"
            time_zone = "Mars/Olympus_Mons"
            """,
            """
            f:4:1: key 'countdown_key' in [service.shop] belongs to format 'service-end', not to \
            'status'
            f:5:13: bad time zone 'Broken/Zone' for 'time_zone' in [service.shop]: the file is cut \
            short
            f:9:13: unknown time zone 'Mars/Olympus_Mons' for 'time_zone' in [service.blog]
            """),
        WrongFile(
            "aBooleanThatDoesNotSayWhatCloses",
            """
            \(shopTable)
            closed_when = true
            closed_state = "ended"
            [service.blog]
            source = "file:/a"
            format = "boolean"
            [service.zoo]
            source = "file:/a"
            format = "boolean"
            key = "off"
            closed_when = "true"
            closed_state = "running"
            countdown_key = "x"
            [service.ant]
            source = "flags"
            format = "boolean"
            closed_when = false
            [service.bee]
            source = "signed"
            format = "boolean"
            closed_when = false
            [source.flags]
            type = "ofrep"
            url = "http://127.0.0.1:8016"
            [source.signed]
            type = "file"
            path = "/b"
            signers = "/s"
            audience = "prod"
            """,
            """
            f:4:1: key 'closed_when' in [service.shop] belongs to format 'boolean', not to 'status'
            f:5:1: key 'closed_state' in [service.shop] belongs to format 'boolean', not to 'status'
            f:6:1: missing key 'closed_when' in [service.blog]
            f:13:15: wrong type for 'closed_when' in [service.zoo]: expected true or false, found a \
            string
            f:14:16: bad value 'running' for 'closed_state' in [service.zoo]: expected \
            'maintenance', 'update-required' or 'ended'
            f:15:1: key 'countdown_key' in [service.zoo] belongs to format 'service-end', not to \
            'boolean'
            f:16:1: missing key 'key' in [service.ant], which format 'boolean' needs: source \
            'flags' gives flags by their keys
            f:20:1: missing key 'key' in [service.bee], which format 'boolean' needs: source \
            'signed' has signers, and its documents are objects
            """),
        WrongFile(
            "noticesThatAreNone",
            """
            \(shopTable)
            notify_before = "7d"
            [service.blog]
            source = "file:/a"
            format = "status"
            notify_before = ["7d", "a week"]
            [service.wiki]
            source = "file:/a"
            format = "status"
            notify_before = ["24h", "1h", "60m"]
            [service.mail]
            source = "file:/a"
            format = "status"
            notify_before = ["500ms"]
            [service.chat]
            source = "file:/a"
            format = "status"
            notify_before = [3600]
            """,
            """
            f:4:17: wrong type for 'notify_before' in [service.shop]: expected a list of durations \
            such as ["7d", "1h"], found a string; write ["7d"]
            f:8:17: bad list for 'notify_before' in [service.blog]: 'a week': write a number and a \
            unit (ms, s, m, h, d), such as '30s'
            f:12:17: bad list for 'notify_before' in [service.wiki]: it names '1h' twice
            f:16:17: bad list for 'notify_before' in [service.mail]: '500ms': expected 1s to 3650d
            f:20:17: bad list for 'notify_before' in [service.chat]: '3600': write "3600s"
            """),
    ]
}
