import Transfer

/// Where a stream of events is, and whether it is the server's own.
package struct EventStreamAddress: Hashable {
    package let url: String
    /// Whether it has the origin of the server that offers it: no other one gets our credentials.
    package let isOwn: Bool

    /// Nil for an address that is none, or leads from https to http.
    package init?(_ entry: EventStreamEntry, of server: String) {
        guard let home = WebAddress(server) else { return nil }
        switch entry {
        case .url(let url):
            self.url = url
        case .path(let path, let origin):
            let isV6 = home.host.utf8.contains(UInt8(ascii: ":")) && !home.host.hasPrefix("[")
            let host = isV6 ? "[\(home.host)]" : home.host
            self.url = (origin ?? "\(home.scheme)://\(host):\(home.port)") + path
        }
        // libcurl takes no other bytes; with a blank in it, it would be another request.
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), url.utf8.count <= 8192,
            let address = WebAddress(url), ["http", "https"].contains(address.scheme),
            home.scheme == address.scheme || address.scheme == "https"
        else { return nil }
        isOwn = address == home
    }
}
