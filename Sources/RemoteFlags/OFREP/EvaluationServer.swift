import SourceKinds

extension EvaluationServer {
    /// The address of the evaluation of all flags.
    var bulkURL: String { site.url + "/ofrep/v1/evaluate/flags" }
}
