import JSON
import RemoteFlags
import Settings

extension ClientTemplateSite {
    /// The site of a client template, by its settings.
    init(_ app: Source.Firebase, of source: Source) {
        self.init(
            project: app.project, apiKey: app.apiKey, appID: app.appID, baseURL: app.baseURL,
            realtimeURL: app.realtimeURL, installationsURL: app.installationsURL,
            interval: source.interval, timeout: source.timeout, maxBody: source.maxBody)
    }
}

extension ServerTemplateSite {
    /// The site of a server template, by its settings. Percent conditions use the host's application-
    /// specific machine id unless the configuration has another one. Without any, none of them is true.
    init(_ project: Source.FirebaseServer, of source: Source, _ host: Host) {
        let signals = project.signals.compactMap { signal in
            SignalValue(signal.value).map { (signal.name, $0) }
        }
        self.init(
            project: project.project, credential: project.credentials, baseURL: project.baseURL,
            scope: project.scope, timeout: source.timeout, maxBody: source.maxBody,
            context: Context(
                randomizationID: project.randomizationID ?? host.machineID ?? "",
                signals: Dictionary(signals) { _, last in last }))
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
