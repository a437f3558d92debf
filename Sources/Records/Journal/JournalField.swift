package import Journal

/// The keys of our own journal fields.
package enum JournalField {
    package static func service(_ value: String) -> Field { Field("KILLSWITCH_SERVICE", value) }
    package static func unit(_ value: String) -> Field { Field("KILLSWITCH_UNIT", value) }
    package static func state(_ value: String) -> Field { Field("KILLSWITCH_STATE", value) }
    package static func gate(_ value: String) -> Field { Field("KILLSWITCH_GATE", value) }
    package static func reason(_ value: String) -> Field { Field("KILLSWITCH_REASON", value) }
    package static func daysLeft(_ value: Int) -> Field {
        Field("KILLSWITCH_DAYS_LEFT", String(value))
    }
    /// Who gave an order.
    package static func author(_ value: String) -> Field { Field("KILLSWITCH_AUTHOR", value) }
    /// Why an order was given, in the words of who gave it.
    package static func cause(_ value: String) -> Field { Field("KILLSWITCH_CAUSE", value) }
    /// When an order ends by itself.
    package static func until(_ value: String) -> Field { Field("KILLSWITCH_UNTIL", value) }
    package static func source(_ value: String) -> Field { Field("KILLSWITCH_SOURCE", value) }
    package static func version(_ value: String) -> Field { Field("KILLSWITCH_VERSION", value) }
}
