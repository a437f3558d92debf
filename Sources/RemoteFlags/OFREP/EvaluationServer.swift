package import JSON

/// A server that evaluates flags for a context, by the OpenFeature Remote Evaluation Protocol 0.3.0,
/// and how it is asked.
package struct EvaluationServer: Hashable, Sendable {
    /// Its `url` is what stands before `/ofrep`.
    package var site: Site
    /// What the administrator adds to the context, or puts in the place of a part of it.
    package var context: JSON.Object
    /// From one poll to the next.
    package var interval: Duration

    package init(site: Site, context: JSON.Object, interval: Duration) {
        self.site = site
        self.context = context
        self.interval = interval
    }

    /// The address of the evaluation of all flags.
    var bulkURL: String { site.url + "/ofrep/v1/evaluate/flags" }
}
