import JSON
import Signing
import SourceKinds

extension ServerTemplatePlace {
    /// What conditions are evaluated by on this host.
    ///
    /// Percent conditions choose the host by `randomizationID`, else by its machine id for this
    /// program; without either, no percent condition is true.
    func context(on host: Host) -> Context {
        let values = signals.compactMap { signal in
            SignalValue(signal.value).map { (signal.name, $0) }
        }
        return Context(
            randomizationID: randomizationID ?? host.machineID ?? "",
            signals: Dictionary(values) { _, last in last })
    }

    /// Where the template is fetched.
    var url: String {
        "\(baseURL)/v1/projects/\(project)/namespaces/firebase-server/serverRemoteConfig"
    }

    /// What the flags depend on: the template and the host that it was evaluated for. Whoever may read
    /// the template reads the same one, so that a new key of an account makes no other flags.
    ///
    /// The number is that of our evaluation. It grows when that changes its results, for a template
    /// that is unchanged is not evaluated again.
    func binding(in context: Context) -> String {
        let signals = context.signals.map { "\($0.key.text.utf8.count):\($0.key.text)=\($0.value)" }
        let host = ([context.randomizationID] + signals.sorted()).joined(separator: "\n")
        return "\(url) 1 \(SHA256.hexadecimal(of: Array(host.utf8)))"
    }
}

extension SignalValue {
    /// Nil unless it is a string or a number; the configuration accepts no other.
    fileprivate init?(_ value: JSON.Value) {
        switch value {
        case .string(let text):
            self = .text(text)
        case .number(let number):
            // 5.0 in the file is not 5: as texts they differ.
            if let whole = Int64(number.literal) {
                self = .integer(whole)
            } else if let double = number.double {
                self = .number(double)
            } else {
                return nil
            }
        case .null, .bool, .array, .object:
            return nil
        }
    }
}
