import ArgumentParser
import Decision
import Gates
import _StringProcessing

/// A kind of target on the command line: `--state` names the open gate or a state. A hook is none.
extension GateTarget.Kind: ExpressibleByArgument {
    init?(argument: String) {
        self.init(attachable: argument)
        if isHook { return nil }
    }

    static var allValueStrings: [String] {
        fixed.filter { $0 != .closed && !$0.isHook }.map(\.word)
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    var defaultValueDescription: String { word }

    /// The option of the command line that names it.
    var option: String {
        switch self {
        case .open, .closed, .variant: ""
        case .notice, .change: " --on \(word)"
        case .countdown, .updateRequired, .maintenance, .ended: " --state \(word)"
        }
    }
}

/// The word of `--on`.
enum OnArgument: String, CaseIterable, ExpressibleByArgument {
    case notice, change

    var kind: GateTarget.Kind {
        switch self {
        case .notice: .notice
        case .change: .change
        }
    }
}
