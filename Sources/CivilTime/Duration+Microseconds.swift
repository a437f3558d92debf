extension Duration {
    /// Whole microseconds, rounded towards zero and saturated at the range of `Int64`.
    ///
    /// By the one number that a duration is: its parts cost two divisions of 128 bits.
    @inlinable package var microseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000_000)
    }

    /// Whole seconds, rounded down.
    @inlinable package var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return attoseconds < 0 ? seconds.subtractingSaturated(1) : seconds
    }
}
