import Configuration
import Testing

/// `https://[::1/x` passed the check, and failed at each fetch. An address is checked when it is read: what
/// libcurl could never fetch is an error with its place, and the rest is left to libcurl.
struct URLTests {
    static let valid = [
        "https://flags.example.com/shop.json",
        "http://localhost",
        "https://flags.example.com?name=shop",
        "https://flags.example.com./shop.json",
        "https://Flags_1.example-shop.com:443/a@b:c/[d]",
        "https://192.0.2.7:1/",
        "https://192.0.2.7:65535/",
        "https://flags.example.com:00443/",
        "https://xn--bcher-kva.example/",
        "https://[::1]/x",
        "https://[::]:8443",
        "https://[2001:db8:0:0:0:0:0:7]:443/x",
        "https://[2001:DB8::192.0.2.7]/x",
        "https://[1:2:3:4:5:6:7::]/",
        "https://[fe80::1%25eth0]:8443/x",
        "https://[fe80::1%eth0.100]/x",
    ]

    @Test(arguments: valid) func anAddressThatCanBeFetchedIsAccepted(url: String) {
        #expect(errors(in: Self.source(url)) == "")
    }

    static let noHost = "it names no host"
    static let noName = "its host is neither a name nor an address"
    static let notClosed = "the '[' of its address is not closed"
    static let noAddress = "the text in brackets is not an IPv6 address"
    static let noPort = "its port is not a number from 1 to 65535"
    static let blank = "it holds a blank or a non-ASCII character; write it as %XX"

    static let invalid = [
        ("https://", noHost),
        ("https:///x", noHost),
        ("https://?x", noHost),
        ("https://:443/x", noHost),
        ("https://[]/x", noHost),
        ("https://./x", noName),
        ("https://flags..example.com/x", noName),
        ("https://.example.com/x", noName),
        ("https://flags.example.com../x", noName),
        ("https://flags%2Eexample.com/x", noName),
        ("https://flags\\\\example.com/x", noName),
        ("https://example.com]/x", noName),
        ("https://[::1/x", notClosed),
        ("https://[", notClosed),
        ("https://[::1?]", notClosed),
        ("https://[:]/x", noAddress),
        ("https://[:::]/x", noAddress),
        ("https://[::1::]/x", noAddress),
        ("https://[1:2:3:4:5:6:7]/x", noAddress),
        ("https://[1:2:3:4:5:6:7:8:9]/x", noAddress),
        ("https://[12345::]/x", noAddress),
        ("https://[::g]/x", noAddress),
        ("https://[::256.0.2.7]/x", noAddress),
        ("https://[192.0.2.7]/x", noAddress),
        ("https://[flags.example.com]/x", noAddress),
        ("https://[[::1]]/x", noAddress),
        ("https://[%25eth0]/x", noAddress),
        ("https://[fe80::1%]/x", noAddress),
        ("https://[fe80::1%25abcdefghijklmnop]/x", noAddress),
        ("https://[::1]x/", noPort),
        ("https://[::1]]:80/", noPort),
        ("https://flags.example.com:/x", noPort),
        ("https://flags.example.com:0/x", noPort),
        ("https://flags.example.com:65536/x", noPort),
        ("https://flags.example.com:+80/x", noPort),
        ("https://flags.example.com:80a/x", noPort),
        ("https://flags.example.com:99999999999999999999/x", noPort),
        ("https://flags.example.com:80:80/x", noPort),
        ("https://flags.example.com/a b", blank),
        ("https://flags.example.com /x", blank),
        ("https://flags.example.com/\\u0001", blank),
        ("https://flags.example.com/\\u0000", blank),
        ("https://flags.example.com/\\u007F", blank),
        ("https://flags.exämple.com/x", blank),
        (" https://flags.example.com/x", blank),
        ("", "it begins with neither 'https://' nor 'http://'"),
        ("//flags.example.com/x", "it begins with neither 'https://' nor 'http://'"),
        ("ftp://flags.example.com/x", "it begins with neither 'https://' nor 'http://'"),
        ("https:/flags.example.com/x", "it begins with neither 'https://' nor 'http://'"),
    ]

    @Test(arguments: invalid)
    func anAddressThatCannotBeFetchedIsAnErrorWithItsPlace(url: String, problem: String) {
        let printed = errors(in: Self.source(url))
        #expect(printed.hasPrefix("f:3:7: bad URL "))
        #expect(printed.hasSuffix(" for 'url' in [source.app]: \(problem)"))
    }

    @Test func addressesOfEveryKindAreChecked() {
        #expect(
            errors(
                in: """
                    [source.a]
                    type = "ofrep"
                    url = "https://[::1"
                    [source.b]
                    type = "etcd"
                    prefix = "flags/"
                    endpoints = ["https://[::1]:2379", "https://[::2:2379"]
                    [source.c]
                    type = "firebase"
                    project = "shop"
                    api_key = "key"
                    app_id = "id"
                    base_url = "https://[::1"
                    [service.shop]
                    source = "https://[::1/x"
                    format = "status"
                    """) == """
                    f:3:7: bad URL 'https://[::1' for 'url' in [source.a]: \(Self.notClosed)
                    f:7:13: bad endpoint for 'endpoints' in [source.b]: 'https://[::2:2379': \
                    \(Self.notClosed)
                    f:13:12: bad URL 'https://[::1' for 'base_url' in [source.c]: \(Self.notClosed)
                    f:15:10: bad URL 'https://[::1/x' for 'url' in address 'https://[::1/x': \
                    \(Self.notClosed)
                    """)
    }

    /// A URL of etcd with a user was refused with the advice to use `bearer`, which etcd does not have.
    @Test func aLoginInAURLIsRefusedWithTheKeysForIt() {
        let problem = "do not write a user or password in a URL; use"
        #expect(
            errors(
                in: """
                    [source.a]
                    type = "http"
                    url = "https://ann:secret@a"
                    [source.b]
                    type = "ofrep"
                    url = "https://ann@a"
                    [source.c]
                    type = "etcd"
                    prefix = "flags/"
                    endpoints = ["https://ann:secret@a:2379"]
                    [source.d]
                    type = "firebase"
                    project = "shop"
                    api_key = "key"
                    app_id = "id"
                    base_url = "https://@a"
                    realtime_url = "https://ann@a"
                    installations_url = "https://ann@a"
                    [source.e]
                    type = "firebase-server"
                    project = "shop"
                    base_url = "https://:secret@a"
                    [service.shop]
                    source = "a"
                    format = "status"
                    """) == """
                    f:3:7: bad URL 'https://…@a' for 'url' in [source.a]: \(problem) 'bearer'
                    f:6:7: bad URL 'https://…@a' for 'url' in [source.b]: \(problem) 'bearer' or \
                    'api_key'
                    f:10:13: bad endpoint for 'endpoints' in [source.c]: \
                    'https://…@a:2379': \(problem) 'user' and 'password'
                    f:16:12: bad URL 'https://…@a' for 'base_url' in [source.d]: \(problem) 'api_key'
                    f:17:16: bad URL 'https://…@a' for 'realtime_url' in [source.d]: \(problem) \
                    'api_key'
                    f:18:21: bad URL 'https://…@a' for 'installations_url' in [source.d]: \(problem) \
                    'api_key'
                    f:22:12: bad URL 'https://…@a' for 'base_url' in [source.e]: \(problem) \
                    'credentials'
                    """)
    }

    private static func source(_ url: String) -> String {
        """
        [source.app]
        type = "http"
        url = "\(url)"
        [service.shop]
        source = "app"
        format = "status"
        """
    }
}
