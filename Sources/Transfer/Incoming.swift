/// The part of an answer that has come, within limits. After a part was refused no more is taken.
struct Incoming {
    /// The limit of bytes for the headers of all answers to one request, redirects included.
    static let headerLimit = 64 << 10

    private(set) var headers = HeaderSection()
    /// The whole body of a success, or the beginning of any other.
    private(set) var body: [UInt8] = []
    /// Why no more is taken; nil while it is.
    private(set) var refusal: TransferError?
    private var headerBytes = 0
    private var bodyBytes = 0

    /// Takes a line of the headers; false ends the transfer.
    mutating func take(header line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.headerLimit else {
            return refuse(.headersOver(limit: Self.headerLimit))
        }
        unsafe headers.take(line: line)
        guard headers.isComplete, let coding = headers.unacceptableCoding else { return true }
        return refuse(.encoding(coding))
    }

    /// Takes a part of the body, decoded; false ends the transfer.
    mutating func take(body bytes: UnsafeRawBufferPointer, limit: Int, keptOfRefusal: Int) -> Bool {
        bodyBytes += bytes.count
        guard bodyBytes <= limit else { return refuse(.bodyOver(limit: limit)) }
        let kept = (200..<300).contains(headers.status) ? limit : keptOfRefusal
        unsafe body.append(contentsOf: bytes.prefix(max(0, kept - body.count)))
        return true
    }

    /// Refuses a stream that has a content coding: its bytes are not decoded. False ends the
    /// transfer.
    mutating func refuseCoding() -> Bool {
        let codings = headers.values(of: "content-encoding").filter {
            $0.lowercased() != "identity"
        }
        guard let coding = codings.first else { return true }
        return refuse(.encoding(coding))
    }

    /// Starts over for the next answer, after a redirect.
    mutating func advance() {
        headers = HeaderSection()
        body = []
        bodyBytes = 0
        refusal = nil
    }

    private mutating func refuse(_ error: TransferError) -> Bool {
        refusal = error
        return false
    }
}

extension HeaderSection {
    /// The coding that the request did not ask for; nil without a coding.
    ///
    /// libcurl decodes every coding that it knows, up to five around each other: so 16 KiB can
    /// become gigabytes inside one call, before a byte of them is counted.
    var unacceptableCoding: String? {
        coding(of: "content-encoding", notIn: ["identity", "gzip", "x-gzip", "deflate"])
            ?? coding(of: "transfer-encoding", notIn: ["identity", "chunked"])
    }

    private func coding(of name: String, notIn accepted: [String]) -> String? {
        let codings = values(of: name)
        if codings.isEmpty { return nil }
        let text = codings.joined(separator: ", ")
        return accepted.contains(text.lowercased()) ? nil : text
    }
}

/// Takes the parts of a stream, which may last for days.
///
/// libcurl calls both functions, so that neither may call the exchange: they note the bytes, and
/// act later. False ends the transfer, which then counts as failed.
package protocol Receiver: AnyObject {
    /// The stream begins: the status is 200, and these are the headers.
    func begin(_ headers: HeaderSection) -> Bool

    /// The next bytes, at most 16 KiB of them.
    func take(_ bytes: [UInt8]) -> Bool
}
