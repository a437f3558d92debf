package import JSON

/// A server template of Remote Config: conditions in the order of their priority, and parameters with
/// a value for each condition.
package struct Template {
    package struct NamedCondition: Hashable, Sendable {
        package var name: String
        package var condition: Condition
    }

    package struct Parameter: Hashable, Sendable {
        package var key: String
        /// By name of the condition, as the template writes them.
        package var conditionalValues: JSON.Object
        package var defaultValue: JSON.Value?
    }

    package var conditions: [NamedCondition]
    /// In the order of their keys.
    package var parameters: [Parameter]
    /// The number that the service gives to each publication.
    package var version: String?
    /// What is strange about it, each a clause.
    package var doubts: [String]
}
