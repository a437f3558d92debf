/// The part of an answer that has come, within limits. After a part was refused no more is taken.
struct ResponseAccumulator {
    /// The limit of bytes for the headers of all answers to one request, redirects included.
    static let headerLimit = 64 << 10
    /// How many bytes gzip may add to a body that it cannot make smaller.
    private static let gzipOverhead = 64 << 10

    private(set) var headers = HeaderSection()
    /// The whole body of a success, or the beginning of any other.
    private(set) var body: [UInt8] = []
    /// Why no more is taken; nil while it is.
    private(set) var refusal: TransferError?
    private var headerBytes = 0
    private var bodyBytes = 0
    private var isGzip = false
    private var decoder: GzipDecoder?

    /// Takes a line of the headers; false ends the transfer.
    mutating func receive(header line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.headerLimit else {
            return refuse(.headersOver(limit: Self.headerLimit))
        }
        let isTrailer = headers.isComplete
        guard unsafe headers.parse(line: line) else { return refuse(.notHTTP) }
        guard headers.isComplete, !isTrailer, headers.announcesBody else { return true }
        do throws(TransferError) {
            isGzip = try headers.isGzip()
            return true
        } catch {
            return refuse(error)
        }
    }

    /// Takes a part of the body as the server has coded it; false ends the transfer. `limit` holds for
    /// the bytes before and after decoding.
    mutating func receive(body bytes: UnsafeRawBufferPointer, limit: Int, keptOfRefusal: Int)
        -> Bool
    {
        bodyBytes += bytes.count
        guard bodyBytes <= limit + (isGzip ? Self.gzipOverhead : 0) else {
            return refuse(.bodyOver(limit: limit))
        }
        let kept = isSuccess ? limit : keptOfRefusal
        guard isGzip else {
            unsafe body.append(contentsOf: bytes.prefix(max(0, kept - body.count)))
            return true
        }
        guard isSuccess || body.count < kept else { return true }
        do throws(TransferError) {
            if decoder == nil { decoder = try GzipDecoder() }
            try unsafe decoder?.decode(bytes, into: &body, limit: kept)
        } catch {
            return refuse(error)
        }
        guard body.count > kept else { return true }
        body.removeLast(body.count - kept)
        return isSuccess ? refuse(.bodyOver(limit: limit)) : true
    }

    /// Whether what has come of the body can be all of it.
    var isWhole: Bool { decoder?.isAtEnd ?? true }

    /// False for a stream with a content coding, which is refused: its bytes are not decoded.
    mutating func refuseCoding() -> Bool { isGzip ? refuse(.encoding("gzip")) : true }

    /// Starts over for the next answer, after a redirect.
    mutating func advance() {
        let headerBytes = headerBytes
        self = ResponseAccumulator()
        self.headerBytes = headerBytes
    }

    private var isSuccess: Bool { (200..<300).contains(headers.status) }

    private mutating func refuse(_ error: TransferError) -> Bool {
        refusal = error
        return false
    }
}

/// Receives a part of a stream. libcurl calls it, so that it may not call the transfer: it notes the part, and
/// acts later. False ends the transfer, which then counts as failed.
package typealias StreamReceiver = (StreamPart) -> Bool

/// A part of a stream.
package enum StreamPart {
    /// The stream begins: the status is 200, and these are the headers.
    case head(HeaderSection)
    /// The next bytes, at most 16 KiB of them.
    case body([UInt8])
}
