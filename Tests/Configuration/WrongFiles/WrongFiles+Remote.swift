extension WrongFile {
    static let remote = [
        WrongFile(
            "aVariantThatIsHalfAndHalf",
            """
            [service.shop]
            source = "file:/a"
            format = "switch"
            countdown_key = "x"
            [service.shop.variant]
            default = "V 1"
            map = { "1" = "v1", "2" = 2 }
            source = "app"
            """,
            """
            f:4:1: key 'countdown_key' in [service.shop] belongs to format 'service-end', not to \
            'switch'
            f:5:1: missing key 'key' in [service.shop.variant]
            f:6:11: bad word 'V 1' for 'default' in [service.shop.variant]: expected 1 to 63 of a-z, \
            0-9, '_' and '-', the first a letter or digit
            f:7:7: wrong type for 'map' in [service.shop.variant]: expected a table of words such as \
            { "1" = "v1" }, found a table
            f:8:10: unknown source 'app' for 'source' in [service.shop.variant]; the switches of the \
            service read 'shop'
            """),
        WrongFile(
            "valuesThatAreNone",
            """
            [service.shop]
            source = "file:/a"
            format = "switch"
            confirm_close = 0
            confirm_open = "2"
            activation = "later"
            installed_version = "1"
            installed_version_file = "/v"
            [service.shop.values]
            a-b = { type = "string" }
            a_b = { type = "string" }
            limit = { type = "integer", default = "ten" }
            Limit = { type = "int", keys = "k" }
            flat = 1
            day = { type = "json", default = 2027-01-01 }
            """,
            """
            f:4:17: bad number '0' for 'confirm_close' in [service.shop]: expected 1 to 100
            f:5:16: wrong type for 'confirm_open' in [service.shop]: expected a whole number, \
            found a string
            f:6:14: bad value 'later' for 'activation' in [service.shop]: expected 'immediate' \
            or 'next-start'
            f:8:1: both 'installed_version' and 'installed_version_file' in [service.shop]: \
            keep one of the two
            f:11:1: values 'a-b' and 'a_b' in [service.shop.values] are the same variable of \
            state.env
            f:12:39: bad default in [service.shop.values.limit]: expected the type 'integer'
            f:13:1: bad name 'Limit' of a value: expected 1 to 63 of a-z, 0-9, '_' and '-', the \
            first a letter or digit
            f:13:18: bad value 'int' for 'type' in [service.shop.values.Limit]: expected \
            'string', 'integer', 'number', 'boolean' or 'json'
            f:13:25: unknown key 'keys' in [service.shop.values.Limit]; did you mean 'key'?
            f:14:8: wrong type for 'flat' in [service.shop.values]: expected a table \
            [service.shop.values.flat], found an integer
            f:15:34: wrong type for 'default' in [service.shop.values.day]: expected a value \
            that JSON has, found a date; JSON has no such value
            """),
        WrongFile(
            "defaultsThatJSONDoesNotHave",
            """
            [source.app]
            type = "file"
            path = "/a"
            defaults = { end = "no", at = 2027-01-01, list = [1, inf] }
            [service.shop]
            source = "app"
            format = "switch"
            """,
            """
            f:4:31: wrong type for 'at' in [source.app.defaults]: expected a value that JSON has, \
            found a date; JSON has no such value
            f:4:50: wrong type for 'list' in [source.app.defaults]: expected a value that JSON has, \
            found an array; JSON has no such value
            """),
    ]
}
