extension TableReader {
    /// Checks the keys that mean something only beside each other, and that no secret is sent in clear.
    ///
    /// `subject` is what holds the URLs, with its verb: `'url' is`. What `isLocal` leaves this host by
    /// no network.
    func checkCredentials(
        for urls: [String], _ subject: String, secrets: [String], isLocal: Bool = false,
        _ report: inout Report
    ) {
        if let key = member(HTTPKey.clientKey), member(HTTPKey.clientCertificate) == nil {
            report.error(
                "'client_key' \(place) needs a 'client_certificate' beside it", at: key.keyOrigin)
        }
        if urls.allSatisfy({ $0.hasPrefix("http:") }) {
            for member in [HTTPKey.ca, .clientCertificate].compactMap(member) {
                report.warn(
                    "\(member.key.quoted) \(place) has no effect: \(subject) not https",
                    at: member.keyOrigin)
            }
        }
        let isClear = urls.contains { $0.hasPrefix("http:") && !URLText($0).isLoopback }
        for member in table.members where secrets.contains(where: member.key.hasSameBytes) {
            guard isClear, !isLocal else { continue }
            report.warn(
                "\(member.key.quoted) \(place) is sent in clear: \(subject) not https",
                at: member.keyOrigin)
        }
    }
}
