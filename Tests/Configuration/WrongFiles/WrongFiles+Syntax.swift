extension WrongFile {
    static let syntax = [
        WrongFile(
            "aKeyTwice",
            """
            [service.shop]
            source = "a"
            source = "b"
            """,
            """
            f:3:10: syntax error in key-value pair: cannot redefine existing string 'source'
            """),
        WrongFile(
            "aTableTwice", "[service.shop]\n[service.shop]",
            "f:2:1: syntax error in table header: cannot redefine existing table 'service.shop'"),
        WrongFile(
            "aTextWithoutQuotes", "[service.shop]\nformat = status",
            "f:2:10: syntax error in value: could not determine value type; a text needs quotes"),
        WrongFile(
            "aTextWithoutQuotesThatIsNotASCII", "[service.shop]\nformat = Ä",
            "f:2:10: syntax error in value: could not determine value type; a text needs quotes"),
        WrongFile(
            "aQuoteLeftOpen",
            """
            [service.shop]
            format = "status
            key = "flags"
            """,
            """
            f:2:17: syntax error in string: unescaped control characters other than TAB (U+0009) \
            are explicitly prohibited; is the closing quote missing?
            """),
        WrongFile(
            "aBracketLeftOpen", "[service.shop",
            "f:1:14: syntax error in table header: encountered end-of-file"),
        WrongFile(
            "anIntegerTooLarge",
            """
            [source.app]
            max_body = 99999999999999999999
            """,
            """
            f:2:32: syntax error in decimal integer: '99999999999999999999' is not representable \
            in 64 bits
            """),
        WrongFile(
            "aKeyOfManyParts", "a\(String(repeating: ".a", count: 300)) = 1",
            "f:1:65: syntax error: more than 32 levels of tables and arrays"),
        WrongFile(
            "aNul",
            "[service.shop]\nsource\0 = 1",
            #"""
            f:2:7: syntax error in key-value pair: expected '=', saw '\u0000'
            """#),
    ]
}
