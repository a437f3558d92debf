import CCurl
import CivilTime

/// An easy handle of libcurl: the settings of a transfer, which stay from one to the next.
///
/// It is the only place that gives libcurl a pointer to keep, and owns the memory behind it: the error's
/// sentence, the headers and the parsed URL are freed after the handle; the userdata is the transfer that owns
/// it. libcurl copies the rest.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let sentence: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var configured: PreparedRequest?
    private var target: (url: String, milliseconds: Int)?
    private var parsedURL: OpaquePointer?
    private var isForStreams = false
    private var hasOwnConnection = false
    private var makesConnection = false
    private var authorities: String?

    /// A handle without settings. Throws if memory runs out.
    init() throws(TransferError) {
        guard let pointer = unsafe curl_easy_init() else { throw .notStarted("out of memory") }
        unsafe self.pointer = pointer
        unsafe sentence = .allocate(capacity: curl_error_size)
        unsafe sentence.initialize(repeating: 0, count: curl_error_size)
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe curl_slist_free_all(headerList)
        unsafe curl_url_cleanup(parsedURL)
        unsafe sentence.deallocate()
    }

    /// Makes the settings of every transfer. `userdata` is the transfer, for the callbacks.
    func setUp(userdata: UnsafeMutableRawPointer) throws(TransferError) {
        try unsafe set(CURLOPT_PRIVATE, userdata)
        try unsafe set(CURLOPT_HEADERDATA, userdata)
        try unsafe set(CURLOPT_WRITEDATA, userdata)
        try unsafe set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(sentence))
        try check(unsafe curl_easy_set_receiver(pointer, CURLOPT_HEADERFUNCTION, receiveHeader))
        try check(unsafe curl_easy_set_receiver(pointer, CURLOPT_WRITEFUNCTION, receiveBody))
        try check(unsafe curl_easy_set_web_only(pointer))
        try set(CURLOPT_SSLVERSION, curl_tls_1_2_or_newer)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // An encrypted key would have OpenSSL ask at the terminal, and wait.
        try set(CURLOPT_KEYPASSWD, "")
        // The authorities are read once and kept for an hour, but only if no folder of them is set:
        // a bundle of 140 costs 40 ms. A file of a source counts at once: see `HTTPClient.spelling`.
        // A libcurl before 7.87 reads them for each connection.
        try set(CURLOPT_CAPATH, nil)
        try check(unsafe curl_easy_set_if_known(pointer, CURLOPT_CA_CACHE_TIMEOUT, 3600))
        // No signals for time-outs. A thread that waits for a name server must not stop the loop; with a libcurl before
        // 7.87 it does.
        try set(CURLOPT_NOSIGNAL, 1)
        try check(unsafe curl_easy_set_if_known(pointer, CURLOPT_QUICK_EXIT, 1))
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    /// Sets the file of authorities, as `HTTPClient.spelling` writes it.
    func set(authorities file: String) throws(TransferError) {
        guard file != authorities else { return }
        try set(CURLOPT_CAINFO, file)
        authorities = file
    }

    /// Makes the settings of a request, without the URL, the time limit and the authorities.
    func configure(for prepared: PreparedRequest) throws(TransferError) {
        guard configured !== prepared else { return }
        let (before, request) = (configured?.request, prepared.request)
        configured = nil
        if before?.identity != request.identity, let identity = request.identity {
            try set(CURLOPT_SSLCERT_BLOB, identity.certificate)
            try set(CURLOPT_SSLKEY_BLOB, identity.key)
        }
        if before?.unixSocket != request.unixSocket, let path = request.unixSocket {
            try set(CURLOPT_UNIX_SOCKET_PATH, path)
            try set(CURLOPT_PROXY, "")
        }
        if (before?.isDirect ?? false) != request.isDirect {
            try set(CURLOPT_NOPROXY, request.isDirect ? "*" : nil)
        }
        if before?.headers != request.headers { try set(request.headers) }
        if before?.body != request.body { try set(body: request.body) }
        configured = prepared
    }

    /// Makes the settings of streams, from the next request on: a connection of its own, which the kernel
    /// probes in silence, and no content coding, which would delay the bytes and could multiply them.
    func prepareForStreams() throws(TransferError) {
        guard !isForStreams else { return }
        configured = nil
        try useOwnConnection()
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_TCP_KEEPIDLE, 30)
        try set(CURLOPT_TCP_KEEPINTVL, 15)
        isForStreams = true
    }

    /// Makes a connection for each transfer from now on, and closes it afterwards.
    func useOwnConnection() throws(TransferError) {
        try set(CURLOPT_FRESH_CONNECT, 1)
        try set(CURLOPT_FORBID_REUSE, 1)
        hasOwnConnection = true
    }

    /// Sets whether the next transfer makes a connection, though an idle one may be there.
    func set(makesConnection isNew: Bool) throws(TransferError) {
        guard isNew != makesConnection, !hasOwnConnection else { return }
        try set(CURLOPT_FRESH_CONNECT, isNew ? 1 : 0)
        makesConnection = isNew
    }

    /// Sets the URL and the time limit; nil is no limit.
    func aim(at url: String, within limit: Duration?) throws(TransferError) {
        let milliseconds = limit.map { Int(max(1, $0.microseconds / 1000)) } ?? 0
        unsafe sentence.pointee = 0
        if let target, target == (url, milliseconds) { return }
        if target?.url != url {
            target = nil
            try set(url: url)
        }
        try set(CURLOPT_TIMEOUT_MS, milliseconds)
        target = (url, milliseconds)
    }

    /// Sets the URL, parsed: libcurl would parse it for each transfer, a tenth of the cost of a poll. What it cannot
    /// parse is left to the transfer, which then says so.
    private func set(url: String) throws(TransferError) {
        var parsed = unsafe curl_url()
        if unsafe curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK {
            unsafe curl_url_cleanup(parsed)
            unsafe parsed = nil
        }
        try set(CURLOPT_URL, url)
        try check(unsafe curl_easy_set_url(pointer, parsed))
        unsafe curl_url_cleanup(parsedURL)
        unsafe parsedURL = parsed
    }

    /// The absolute URL that the last answer redirects to.
    var redirectTarget: String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_easy_get_text(pointer, CURLINFO_REDIRECT_URL, &text) == CURLE_OK,
            let text = unsafe text
        else { return nil }
        return unsafe String(cString: text)
    }

    /// Whether the last transfer used a connection of an earlier one.
    var hasReusedConnection: Bool {
        var made = 1
        let code = unsafe curl_easy_get_long(pointer, CURLINFO_NUM_CONNECTS, &made)
        return code == CURLE_OK && made == 0
    }

    /// Why the last transfer failed.
    func error(_ code: CURLcode, from url: String, timeout: Duration) -> TransferError {
        var number = 0
        unsafe curl_easy_get_long(pointer, CURLINFO_OS_ERRNO, &number)
        var answer = 0
        unsafe curl_easy_get_long(pointer, CURLINFO_HTTP_CONNECTCODE, &answer)
        return TransferError(
            code, unsafe String(cString: sentence), errno: Int32(truncatingIfNeeded: number),
            proxyAnswer: answer, host: WebAddress(url)?.host ?? "of the URL", timeout: timeout)
    }

    /// Sets the header fields. We decode, since only so the number of codings and the work are bounded: libcurl gets
    /// the accepted coding as a field like any other.
    private func set(_ headers: [Header]) throws(TransferError) {
        var list: UnsafeMutablePointer<curl_slist>?
        for header in isForStreams ? headers : headers + [Header("Accept-Encoding", "gzip")] {
            // A semicolon is libcurl's way to write a field without a value.
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            guard let longer = unsafe curl_slist_append(list, line) else {
                unsafe curl_slist_free_all(list)
                throw .notStarted("out of memory")
            }
            unsafe list = longer
        }
        let code = unsafe curl_easy_set_list(pointer, CURLOPT_HTTPHEADER, list)
        if code != CURLE_OK { unsafe curl_slist_free_all(list) }
        try check(code)
        unsafe curl_slist_free_all(headerList)
        unsafe headerList = list
    }

    private func set(body: [UInt8]?) throws(TransferError) {
        guard let body else { return try set(CURLOPT_HTTPGET, 1) }
        try check(unsafe curl_easy_set_post(pointer, body, body.count))
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransferError) {
        try check(unsafe curl_easy_set_long(pointer, option, value))
    }

    private func set(_ option: CURLoption, _ value: String?) throws(TransferError) {
        try check(unsafe curl_easy_set_text(pointer, option, value))
    }

    private func set(_ option: CURLoption, _ value: [UInt8]) throws(TransferError) {
        try check(unsafe curl_easy_set_bytes(pointer, option, value, value.count))
    }

    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) throws(TransferError) {
        try check(unsafe curl_easy_set_pointer(pointer, option, value))
    }
}

/// Loads libcurl, unless it is loaded.
func loadLibrary() throws(TransferError) {
    if let cause = unsafe curl_load() { throw .notStarted(unsafe String(cString: cause)) }
}

/// Throws if libcurl rejected a setting.
func check(_ code: CURLcode) throws(TransferError) {
    guard code == CURLE_OK else {
        throw .notStarted(unsafe String(cString: curl_easy_strerror(code)))
    }
}

/// libcurl's CURLOPT_HEADERFUNCTION: takes a line; a short count ends the transfer.
private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userdata: UnsafeMutableRawPointer?
) -> Int {
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(userdata)?.receive(header: line) == true ? line.count : refused(line)
}

/// libcurl's CURLOPT_WRITEFUNCTION: takes a part of the body; a short count ends the transfer.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ userdata: UnsafeMutableRawPointer?
) -> Int {
    let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer(userdata)?.receive(body: part) == true ? part.count : refused(part)
}

/// The transfer of libcurl's userdata. It owns the handle that calls, so that it is alive.
private func transfer(_ userdata: UnsafeMutableRawPointer?) -> HTTPTransfer? {
    guard let userdata = unsafe userdata else { return nil }
    return unsafe Unmanaged<HTTPTransfer>.fromOpaque(userdata).takeUnretainedValue()
}

/// The transfer of an easy handle.
func transfer(of easy: UnsafeMutableRawPointer) -> HTTPTransfer? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_easy_get_text(easy, CURLINFO_PRIVATE, &text) == CURLE_OK else { return nil }
    return unsafe transfer(UnsafeMutableRawPointer(text))
}

/// A count that ends the transfer: any but the count of the bytes, of which there may be none.
private func refused(_ bytes: UnsafeRawBufferPointer) -> Int { unsafe bytes.isEmpty ? 1 : 0 }
