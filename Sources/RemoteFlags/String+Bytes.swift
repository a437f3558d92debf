extension String {
    /// Whether the bytes of a text are among these; those of the empty text are.
    func contains(exactly other: String) -> Bool {
        let (own, wanted) = (utf8Span.span, other.utf8Span.span)
        guard wanted.count <= own.count else { return false }
        return (0...(own.count - wanted.count)).contains { start in
            (0..<wanted.count).allSatisfy { own[start + $0] == wanted[$0] }
        }
    }
}
