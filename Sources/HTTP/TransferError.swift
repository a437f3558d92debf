import CCurl
import Glibc
import POSIX

/// Why a transfer brought no answer. The description is one clause, the same for the same cause, so
/// that a repeated error can be recognised.
package enum TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libcurl refused a setting, or ran out of memory.
    case notStarted(String)
    case unknownName(String)
    case notConnected(String)
    /// The proxy of the environment is the cause: the end of a clause that begins with "the proxy".
    case proxy(String)
    case timedOut(Duration)
    /// The server's certificate, or ours, is not accepted.
    case certificate(String)
    case tls(String)
    case bodyOver(limit: Int)
    case headersOver(limit: Int)
    case encoding(String)
    /// A redirect that is not followed: the end of a clause that begins with "redirected".
    case redirect(String)
    /// The answer began, and then broke off or was not HTTP.
    case broken(String)

    static let cutShort = TransferError.broken("it was cut short")
    static let notHTTP = TransferError.broken("it is not valid HTTP")

    package var description: String {
        switch self {
        case .notStarted(let cause): "cannot start: \(cause)"
        case .unknownName(let name): "the name '\(name)' does not resolve"
        case .notConnected(let cause): "cannot connect: \(cause)"
        case .proxy(let cause): "the proxy \(cause)"
        case .timedOut(let limit): "no complete answer within \(limit)"
        case .certificate(let cause): "certificate not accepted: \(cause)"
        case .tls(let cause): "no secure connection: \(cause)"
        case .bodyOver(let limit): "the answer is larger than \(limit) bytes"
        case .headersOver(let limit): "the headers are larger than \(limit) bytes"
        case .encoding(let coding): "the answer is encoded as '\(coding)', which is not accepted"
        case .redirect(let cause): "redirected \(cause)"
        case .broken(let cause): "the answer is broken: \(cause)"
        }
    }

    /// Turns a result of libcurl into an error. `sentence` is libcurl's own, or empty; it may hold
    /// times, so that not all of it is used. `number` is the `errno(3)` of a failed connection, or 0, and
    /// `answer` the status with which a proxy answered CONNECT, or 0.
    init(
        _ code: CURLcode, _ sentence: String, errno number: Int32, proxyAnswer answer: Int,
        host: String, timeout: Duration
    ) {
        let text = unsafe String(cString: curl_easy_strerror(code))
        if answer != 0, answer / 100 != 2 {
            self = .proxy("refuses to connect to '\(host)': it answers \(answer)")
            return
        }
        // libcurl's sentence for an end without an answer.
        if sentence == "Proxy CONNECT aborted" {
            self = .proxy("closes the connection to '\(host)'")
            return
        }
        if let proxy = Self.proxy(in: sentence, besides: host) {
            let cause = number == 0 ? Self.clause(text) : SystemError.text(of: number)
            self = .proxy("'\(proxy)' cannot be reached: \(cause)")
            return
        }
        let cause = Self.clause(sentence.isEmpty ? text : sentence)
        self =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST: .unknownName(host)
            case CURLE_COULDNT_RESOLVE_PROXY:
                .proxy("'\(sentence.split(separator: " ").last ?? "")' does not resolve")
            case CURLE_COULDNT_CONNECT where number != 0:
                .notConnected(SystemError.text(of: number))
            case CURLE_COULDNT_CONNECT: .notConnected(Self.clause(text))
            case CURLE_OPERATION_TIMEDOUT: .timedOut(timeout)
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
                CURLE_SSL_ISSUER_ERROR:
                .certificate(cause)
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED: .tls(cause)
            case CURLE_PARTIAL_FILE: .cutShort
            case CURLE_GOT_NOTHING: .broken("the server closed the connection without an answer")
            case CURLE_BAD_CONTENT_ENCODING: .broken("it cannot be decoded")
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR: .broken("the connection was lost")
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .notHTTP
            case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_URL_MALFORMAT:
                .notStarted(Self.clause(text))
            default: .broken(Self.clause(text))
            }
    }

    /// The proxy that libcurl could not connect to, by its sentence: "Failed to connect to HOST port PORT
    /// after". Nil if that is the host of the URL, or another sentence.
    private static func proxy(in sentence: String, besides host: String) -> String? {
        let words = sentence.split(separator: " ")
        guard sentence.hasPrefix("Failed to connect to "), words.count > 6, words[5] == "port",
            words[4] != host[...], isProxy(words[4])
        else { return nil }
        return "\(words[4]):\(words[6])"
    }

    /// Whether the environment names this host as a proxy. libcurl does not tell which one it has used.
    private static func isProxy(_ host: Substring) -> Bool {
        ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { name in
            guard let value = unsafe getenv(name) else { return false }
            let text = unsafe String(cString: value)
            return text.indices.contains { text[$0...].hasPrefix(host) }
        }
    }

    /// A sentence of libcurl without its opening words, on one line.
    private static func clause(_ sentence: String) -> String {
        var clause = sentence.split(separator: "\n").joined(separator: " ")[...]
        for opening in ["SSL certificate problem: ", "SSL: "] where clause.hasPrefix(opening) {
            clause = clause.dropFirst(opening.count)
        }
        guard let second = clause.dropFirst().first, second.isLowercase || second == " " else {
            return String(clause)
        }
        return clause.prefix(1).lowercased() + clause.dropFirst()
    }
}
