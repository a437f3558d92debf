/// How the body of an answer is framed and coded.
///
/// A field that libcurl, a proxy and this code could understand differently is an error: nobody may
/// decide by a trick of spelling where an answer ends, or what is decoded.
extension HeaderSection {
    /// Whether an answer of this status has a body (RFC 9112 §6.3).
    var announcesBody: Bool { status >= 200 && status != 204 && status != 304 }

    /// Whether the body is coded with gzip. Throws if the length is doubtful, or if the body has any
    /// other coding, or more than one.
    func isGzip() throws(TransferError) -> Bool {
        let hasLength = try checkLength()
        let transfer = try list(of: "transfer-encoding", called: "Transfer-Encoding")
        // RFC 9112 §6.3: this ought to be handled as an error.
        guard !hasLength || transfer.isEmpty else {
            throw .broken("it has a length and a transfer coding")
        }
        guard transfer.isEmpty || transfer == ["chunked"] else { throw .encoding(transfer) }
        let content = try list(of: "content-encoding", called: "Content-Encoding")
            .filter { $0 != "identity" }
        if content.isEmpty { return false }
        guard content == ["gzip"] || content == ["x-gzip"] else { throw .encoding(content) }
        return true
    }

    /// Whether there is a length. A repeated length has to be the same number.
    private func checkLength() throws(TransferError) -> Bool {
        var length: Int?
        for text in try list(of: "content-length", called: "Content-Length") {
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text)
            else { throw .broken("its Content-Length is not readable") }
            guard length == nil || length == number else { throw .broken("it has two lengths") }
            length = number
        }
        return length != nil
    }

    /// The members of a list, in lower case.
    private func list(of name: String, called title: String) throws(TransferError) -> [String] {
        guard let members = members(of: name) else { throw .broken("its \(title) is not readable") }
        return members.map { $0.lowercased() }
    }
}

extension TransferError {
    /// An answer whose codings are not accepted. Few of many are named.
    fileprivate static func encoding(_ codings: [String]) -> TransferError {
        let text = codings.joined(separator: ", ")
        return .encoding(text.utf8.count > 40 ? "\(text.prefix(40))…" : text)
    }
}
