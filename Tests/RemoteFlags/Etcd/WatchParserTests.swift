import Decision
import RemoteFlags
import Testing

/// Lines of a watch as etcd 3.4 writes them, in parts of any size.
@Suite struct WatchParserTests {
    struct Lines: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        var isHint = false
        var failure: Failure?
        var testDescription: String { name }
    }

    private static let header = #""header":{"cluster_id":"7","member_id":"3","revision":"3"}"#

    @Test(arguments: [
        Lines(name: "created", text: #"{"result":{\#(header),"created":true}}"# + "\n"),
        Lines(name: "progress", text: #"{"result":{\#(header)}}"# + "\n"),
        Lines(
            name: "put",
            text: #"{"result":{\#(header),"events":[{"kv":{"key":"YQ==","value":"YQ=="}}]}}"#
                + "\n",
            isHint: true),
        Lines(
            name: "delete",
            text: #"{"result":{\#(header),"events":[{"type":"DELETE","kv":{"key":"YQ=="}}]}}"#
                + "\n", isHint: true),
        Lines(
            name: "compacted",
            text: #"{"result":{\#(header),"canceled":true,"compact_revision":"8"}}"# + "\n",
            failure: Failure(
                .unreachable, "watch: the changes since the last poll are compacted")),
        Lines(
            name: "expired token",
            text: #"{"result":{\#(header),"watch_id":"-1","created":true,"canceled":true,"cancel_"#
                + #"reason":"rpc error: code = Unauthenticated desc = etcdserver: invalid auth token"}}"#
                + "\n", failure: Failure(.unreachable, "watch: invalid auth token")),
        Lines(
            name: "no right",
            text:
                #"{"result":{"created":true,"canceled":true,"cancel_reason":"rpc error: code = Pe"#
                + #"rmissionDenied desc = etcdserver: permission denied"}}"# + "\n",
            failure: Failure(.refused, "watch: permission denied")),
        Lines(
            name: "the end of a server, without the end of a line",
            text: #"{"error":{"grpc_code":14,"http_code":503,"message":"transport is closing"}}"#,
            failure: Failure(.unreachable, "watch: the server has ended it")),
        Lines(
            name: "no leader", text: #"{"error":{"message":"etcdserver: no leader"}}"# + "\n",
            failure: Failure(.unreachable, "watch: no leader")),
        Lines(
            name: "a page", text: "<html>\n",
            failure: Failure(.invalid, "watch: a line is no JSON object")),
        Lines(
            name: "other JSON", text: "{}\n",
            failure: Failure(.invalid, "watch: a line is not as etcd writes it")),
        Lines(name: "empty lines", text: "\n\r\n\n"),
        Lines(
            name: "a line that is too long", text: String(repeating: "a", count: 70_000) + "\n",
            isHint: true),
    ])
    func eachLineIsParsedHoweverTheStreamIsCut(_ lines: Lines) {
        let text = Array(lines.text.utf8)
        for size in [1, 7, 100, text.count + 1] {
            var (parser, news) = (WatchParser(), StreamNews())
            var rest = text[...]
            while !rest.isEmpty {
                parser.take(Array(rest.prefix(size)), &news)
                rest = rest.dropFirst(size)
            }
            parser.finish(&news)
            #expect(news.isHint == lines.isHint)
            #expect(news.failure == lines.failure)
        }
    }

    @Test func anUnfinishedLineIsNoNews() {
        var (parser, news) = (WatchParser(), StreamNews())
        parser.take(Array(#"{"result":{"events":[]}}"#.utf8), &news)
        #expect(news == StreamNews())
        parser.take([0x0A], &news)
        #expect(news.isHint)
    }
}
