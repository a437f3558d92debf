/// What has come of an answer, within limits. Once something is refused, nothing more is taken.
struct Incoming {
    /// The most bytes that the headers of all answers to one request may have, redirects included.
    static let headerLimit = 64 << 10

    private(set) var headers = HeaderSection()
    /// Whole of a success; of a refusal, its beginning.
    private(set) var body: [UInt8] = []
    /// Why what comes is not taken.
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
    mutating func take(
        body bytes: UnsafeRawBufferPointer, limit: Int, keptOfRefusal: Int
    ) -> Bool {
        bodyBytes += bytes.count
        guard bodyBytes <= limit else { return refuse(.bodyOver(limit: limit)) }
        let kept = (200..<300).contains(headers.status) ? limit : keptOfRefusal
        unsafe body.append(contentsOf: bytes.prefix(max(0, kept - body.count)))
        return true
    }

    /// Refuses a stream in any coding: it is taken as it comes.
    mutating func refuseCoding() -> Bool {
        let codings = headers.values(of: "content-encoding").filter {
            $0.lowercased() != "identity"
        }
        guard let coding = codings.first else { return true }
        return refuse(.encoding(coding))
    }

    /// Begins with the next answer.
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
    /// The coding that we did not ask for, where there is one.
    ///
    /// libcurl decodes whatever it knows, and up to five codings around each other: by those, 16 KiB
    /// become gigabytes inside one call, before a byte of it is counted.
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
