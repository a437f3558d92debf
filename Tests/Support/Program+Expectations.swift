package import Testing

extension Program.Result {
    /// Expects this status, and these words in the two outputs.
    @discardableResult
    package func expect(
        _ expected: Int32, output: String..., errors: String...,
        at location: SourceLocation = #_sourceLocation
    ) -> Program.Result {
        #expect(status == expected, "\(self)", sourceLocation: location)
        for word in output {
            #expect(self.output.contains(word), "\(self)", sourceLocation: location)
        }
        for word in errors {
            #expect(self.errors.contains(word), "\(self)", sourceLocation: location)
        }
        return self
    }
}
