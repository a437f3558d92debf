extension WrongFile {
    static let tables = [
        WrongFile(
            "aMisspeltTable",
            """
            [servce.shop]
            source = "file:/a"
            format = "status"
            """,
            """
            f:1:2: unknown key 'servce' at the top level; did you mean 'service'?
            """),
        WrongFile(
            "limits",
            """
            [limits]
            close_at_once = 0
            close_at_onse = 3
            close_within = 60
            notice = "-1m"
            notise = ""
            \(shopTable)
            """,
            """
            f:2:17: bad number '0' for 'close_at_once' in [limits]: expected 1 to 100000
            f:3:1: unknown key 'close_at_onse' in [limits]; did you mean 'close_at_once'?
            f:4:16: wrong type for 'close_within' in [limits]: expected a duration, found an integer; write "60s"
            f:5:10: bad duration '-1m' for 'notice' in [limits]: write a number and a unit (ms, s, m, h, d), such as '30s'
            f:6:1: unknown key 'notise' in [limits]; did you mean 'notice'?
            """),
        WrongFile(
            "slots",
            """
            [host]
            slots = "50%-50%"
            slot = 3
            \(shopTable)
            """,
            """
            f:2:9: bad part '50%-50%' for 'slots' in [host]: write two percentages from 0% to 100%, the lower one first
            f:3:1: unknown key 'slot' in [host]; did you mean 'slots'?
            """),
        WrongFile(
            "slotsThatAreANumber",
            """
            [host]
            slots = 50
            \(shopTable)
            """,
            """
            f:2:9: wrong type for 'slots' in [host]: expected a part such as "50%-100%", found an integer
            """),
        WrongFile(
            "mirrorsWithoutSigners",
            """
            [source.app]
            type = "http"
            url = ["https://a/x", "https://b/x"]
            [report]
            url = ["https://a/x", "https://b/x"]
            \(shopTable)
            """,
            """
            f:3:1: 'url' in [source.app] is a list; only a source of type 'http' with 'signers' has mirrors
            f:5:1: 'url' in [report] is a list; only a source of type 'http' with 'signers' has mirrors
            """),
        WrongFile(
            "mirrorsThatAreNone",
            """
            [source.a]
            type = "http"
            url = []
            [source.b]
            type = "http"
            url = ["https://a/x", "https://a/x"]
            [source.c]
            type = "http"
            url = ["https://a/x", 1]
            [source.d]
            type = "http"
            url = ["https://a/x", "ftp://a/x"]
            \(shopTable)
            """,
            """
            f:3:7: bad list for 'url' in [source.a]: write 1 to 16 addresses
            f:6:7: bad list for 'url' in [source.b]: it names 'https://a/x' twice
            f:9:7: bad list for 'url' in [source.c]: '1'
            f:12:7: bad list for 'url' in [source.d]: 'ftp://a/x': it begins with neither 'https://' nor 'http://'
            """),
        WrongFile(
            "drillsTooOften",
            """
            \(shopTable)
            drill_every = "30m"
            """,
            """
            f:4:15: bad duration '30m' for 'drill_every' in [service.shop]: expected 1h to 3650d
            """),
        WrongFile(
            "aRunbookThatNobodyCanOpen",
            """
            \(shopTable)
            runbook = "wiki/shop"
            """,
            """
            f:4:11: bad URL 'wiki/shop' for 'runbook' in [service.shop]: it begins with neither 'https://' nor 'http://'
            """),
        WrongFile(
            "anEnforcementThatIsNoBoolean",
            """
            \(shopTable)
            enforce = "no"
            """,
            """
            f:4:11: wrong type for 'enforce' in [service.shop]: expected true or false, found a string
            """),
        WrongFile(
            "limitsThatAreTooLong",
            """
            [limits]
            close_within = "31d"
            notice = "40000000h"
            \(shopTable)
            """,
            """
            f:2:16: bad duration '31d' for 'close_within' in [limits]: expected 0s to 30d
            f:3:10: bad duration '40000000h' for 'notice' in [limits]: expected 0s to 30d
            """),
        WrongFile(
            "arraysForTables",
            """
            [[service]]
            [[source]]
            """,
            """
            f:1:1: wrong type for 'service' at the top level: expected a table [service.NAME], \
            found an array
            f:2:1: wrong type for 'source' at the top level: expected a table [source.NAME], found \
            an array
            """),
        WrongFile(
            "leavesForTables",
            """
            service = 1
            source = "a"
            """,
            """
            f:1:11: wrong type for 'service' at the top level: expected a table [service.NAME], \
            found an integer
            f:2:10: wrong type for 'source' at the top level: expected a table [source.NAME], \
            found a string
            """),
        WrongFile(
            "namesThatAreNone",
            """
            [source.App]
            type = "file"
            path = "/a"
            [service."my shop"]
            source = "App"
            format = "status"
            [service.shop]
            source = "My app"
            format = "status"
            """,
            """
            f:1:9: bad name 'App' of a source: expected 1 to 63 of a-z, 0-9, '_' and '-', the \
            first a letter or digit
            f:4:10: bad name 'my shop' of a service: expected 1 to 63 of a-z, 0-9, '_' and '-', \
            the first a letter or digit
            f:8:10: bad name 'My app' for 'source' in [service.shop]: expected 1 to 63 of a-z, \
            0-9, '_' and '-', the first a letter or digit, or an address
            """),
        WrongFile(
            "keysThatAreUnknown",
            """
            \(shopTable)
            colour = "red"
            [[service.blog.switch]]
            source = "file:/a"
            format = "status"
            colour = "red"
            [source.app]
            type = "file"
            path = "/a"
            intervall = "60s"
            """,
            """
            f:4:1: unknown key 'colour' in [service.shop]; known are 'source', 'format', 'key', \
            'countdown_key', 'closed_when', 'closed_state', 'switch', 'time_zone', 'max_stale', 'when_stale', 'when_unknown', \
            'first_timeout', 'at_end', 'update_required', 'min_closed', \
            'open_spread', 'spread_at_boot', 'drain', \
            'confirm_close', 'confirm_open', 'signatures_to_close', 'signatures_to_open', \
            'installed_version', 'installed_version_file', \
            'activation', 'enforce', 'notify_before', 'guard', 'drill_every', 'units', 'on_change', 'runbook', 'page', 'lang', 'variant', 'values'
            f:8:1: unknown key 'colour' in [[service.blog.switch]]; known are 'source', 'format', \
            'key', 'countdown_key', 'closed_when', 'closed_state'
            f:12:1: unknown key 'intervall' in [source.app]; did you mean 'interval'?
            """),
        WrongFile(
            "aKeyOfControlCharacters",
            #"""
            [service.shop]
            "\u001b[31m\u202e" = 1
            source = "file:/a"
            format = "status"
            """#,
            #"""
            f:2:1: unknown key '\u001B[31m\u202E' in [service.shop]; known are 'source', \#
            'format', 'key', 'countdown_key', 'closed_when', 'closed_state', 'switch', 'time_zone', 'max_stale', 'when_stale', \#
            'when_unknown', 'first_timeout', 'at_end', 'update_required', 'min_closed', \#
            'open_spread', 'spread_at_boot', 'drain', \#
            'confirm_close', 'confirm_open', 'signatures_to_close', 'signatures_to_open', \#
            'installed_version', 'installed_version_file', \#
            'activation', 'enforce', 'notify_before', 'guard', 'drill_every', 'units', 'on_change', 'runbook', 'page', 'lang', 'variant', 'values'
            """#),
        WrongFile(
            "missingKeys",
            """
            [source.app]
            [source.other]
            type = "file"
            [service.shop]
            [service.blog]
            source = "app"
            [[service.wiki.switch]]
            format = "status"
            [service.docs]
            switch = []
            """,
            """
            f:1:1: missing key 'type' in [source.app]; this version follows only 'file', \
            'http', 'etcd', 'ofrep', 'firebase' or 'firebase-server'
            f:2:1: missing key 'path' in [source.other], which type 'file' needs
            f:4:1: no switch in [service.shop]: add the keys 'source' and 'format'
            f:5:1: missing key 'format' in [service.blog]
            f:7:1: missing key 'source' in [[service.wiki.switch]]
            f:10:10: no switch in [service.docs]: add a table [[service.docs.switch]]
            """),
        WrongFile(
            "bothFormsOfASwitchAndABracketTooFew",
            """
            \(shopTable)
            [[service.shop.switch]]
            source = "file:/b"
            format = "status"
            [service.blog.switch]
            source = "file:/b"
            format = "status"
            """,
            """
            f:4:1: both 'source' and 'switch' in [service.shop]: keep one of the two forms
            f:7:1: wrong type for 'switch' in [service.blog]: expected an array of tables \
            [[service.blog.switch]], found a table
            """),
        WrongFile(
            "servicesAndSwitchesThatAreNoTables",
            """
            [service.shop]
            switch = ["app", 1]
            [service]
            blog = "a"
            """,
            """
            f:2:11: wrong type for 'switch' in [service.shop]: expected an array of tables \
            [[service.shop.switch]], found a string
            f:2:18: wrong type for 'switch' in [service.shop]: expected an array of tables \
            [[service.shop.switch]], found an integer
            f:4:8: wrong type for 'blog' in [service]: expected a table [service.blog], found a \
            string
            """),
        WrongFile(
            "unitsThatAreNone",
            """
            \(shopTable)
            units = ["web"]
            [service.blog]
            source = "file:/a"
            format = "status"
            units = ["a.service", "../b.service"]
            [service.wiki]
            source = "file:/a"
            format = "status"
            units = ["a.service", "a.service"]
            [service.docs]
            source = "file:/a"
            format = "status"
            units = "web.service"
            """,
            """
            f:4:9: bad list for 'units' in [service.shop]: 'web' is not the name of a unit; \
            did you mean 'web.service'?
            f:8:9: bad list for 'units' in [service.blog]: '../b.service' is not the name of a unit
            f:12:9: bad list for 'units' in [service.wiki]: it names 'a.service' twice
            f:16:9: wrong type for 'units' in [service.docs]: expected a list of units such as \
            ["web.service"], found a string; write ["web.service"]
            """),
    ]
}
