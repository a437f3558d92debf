extension Duration {
    /// Whole microseconds, rounded towards zero and saturated at the range of `Int64`.
    @inlinable package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedSaturated(by: 1_000_000)
            .addingSaturated(attoseconds / 1_000_000_000_000)
    }

    /// Whole seconds, rounded down.
    @inlinable package var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return attoseconds < 0 ? seconds.subtractingSaturated(1) : seconds
    }
}
