/// A source in one line, as a switch may name it: `file:/etc/killswitchd/shop.json`.
struct Address: Hashable, Sendable {
    /// What comes before the first colon.
    let scheme: String
    /// What comes after it.
    let rest: String

    /// Nil where there is no colon: that is the name of a source, in which none can be.
    init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        scheme = String(text[..<colon])
        rest = String(text[text.utf8.index(after: colon)...])
    }
}
