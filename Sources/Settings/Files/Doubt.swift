package import Files

/// Why a file or a folder may be by somebody who has no say in the configuration.
package enum Doubt: Hashable, Sendable {
    case owner(UInt32)
    case writable(mode: UInt32)
    /// A link leads wherever its author wanted.
    case link

    /// Nil where nothing speaks against it: it belongs to one of `authors`, and nobody else may write.
    package init?(_ attributes: FileAttributes, _ authors: Set<UInt32>) {
        if !authors.contains(attributes.owner) {
            self = .owner(attributes.owner)
        } else if attributes.kind == .symbolicLink {
            self = .link
        } else if attributes.mode & 0o022 != 0 {
            self = .writable(mode: attributes.mode)
        } else {
            return nil
        }
    }
}

extension Doubt: CustomStringConvertible {
    package var description: String {
        switch self {
        case .owner(let user): "it belongs to user \(user), not to root"
        case .writable(let mode): "its mode \(String(mode, radix: 8)) lets others write to it"
        case .link: "it is a link"
        }
    }
}
