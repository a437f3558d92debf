/// Where something stands in a file. Lines and columns begin at 1; columns count code points.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    package var file: String
    package var line: Int
    package var column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The form that editors and compilers agree on: `file:line:column`.
    package var description: String { "\(file):\(line):\(column)" }
}
