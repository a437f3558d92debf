/// One field of a journal entry. Keys are upper case letters, digits and underscores, and do not begin
/// with an underscore: those are journald's own (systemd.journal-fields(7)).
package struct Field: Hashable, Sendable {
    package let key: String
    package let value: String

    package init(_ key: StaticString, _ value: String) {
        self.key = key.description
        self.value = value
    }
}
