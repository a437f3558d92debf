import CZlib

/// Decodes gzip (RFC 1952): members, one after another, each checked against its trailer.
///
/// The work is bounded by the bytes that go in and may come out. libcurl can decode too, but takes an answer
/// without a trailer, refuses a second member, and counts no bytes that decode to nothing.
@safe
final class GzipDecoder {
    /// Whether the bytes so far are whole members.
    private(set) var isAtEnd = true
    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer

    /// A decoder before its first byte. Throws if memory runs out.
    init() throws(TransferError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe output = .allocate(byteCount: 16 << 10, alignment: 1)
        try check(unsafe gzip_begin(stream))
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }

    /// Decodes the next bytes to the end of `body`, until that is over `limit`, by at most 16 KiB.
    func decode(
        _ bytes: UnsafeRawBufferPointer, into body: inout [UInt8], limit: Int
    ) throws(TransferError) {
        var taken = 0
        var mayHoldMore = false
        while body.count <= limit, taken < bytes.count || mayHoldMore {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[taken...])
            let step = unsafe gzip_decode(
                stream, rest.baseAddress, rest.count, output.baseAddress, output.count)
            taken += step.taken
            unsafe body.append(contentsOf: UnsafeRawBufferPointer(rebasing: output[..<step.made]))
            mayHoldMore = unsafe step.made == output.count
            switch step.code {
            case Z_OK: isAtEnd = false
            case Z_STREAM_END:
                isAtEnd = true
                try check(unsafe inflateReset(stream))
            // Without more input there is nothing to do.
            case Z_BUF_ERROR: return
            default: try check(step.code)
            }
        }
    }

    private func check(_ code: Int32) throws(TransferError) {
        switch code {
        case Z_OK: return
        case Z_MEM_ERROR: throw .notStarted("out of memory")
        default: throw .broken("it cannot be decoded")
        }
    }
}
