extension String {
    /// The text on one line and without what a terminal would obey.
    var printable: String {
        var shown = ""
        for scalar in unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            shown.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return shown
    }
}
