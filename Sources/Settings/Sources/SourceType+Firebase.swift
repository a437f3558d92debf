extension SourceType {
    /// The client template of Firebase Remote Config.
    static let firebase = SourceType(
        word: "firebase", keys: FirebaseKey.words, maxBody: firebaseMaxBody,
        read: { reader, report in
            let because = ", which type 'firebase' needs"
            let project = reader.required(
                FirebaseKey.project, .projectID, because: because, &report)
            let apiKey = reader.required(FirebaseKey.apiKey, .token, because: because, &report)
            let appID = reader.required(FirebaseKey.appID, .token, because: because, &report)
            let baseURL = reader.value(
                FirebaseKey.baseURL, .serviceURL, default: remoteConfigURL, &report)
            let realtime = reader.value(FirebaseKey.realtime, .bool, default: false, &report)
            let realtimeURL = reader.value(
                FirebaseKey.realtimeURL, .serviceURL,
                default: "https://firebaseremoteconfigrealtime.googleapis.com", &report)
            let installationsURL = reader.value(
                FirebaseKey.installationsURL, .serviceURLOrNone,
                default: "https://firebaseinstallations.googleapis.com", &report)
            if realtime, installationsURL == nil, let key = reader.member(FirebaseKey.realtime) {
                report.error(
                    "'realtime' \(reader.place) needs an installation: 'installations_url' is "
                        + "\"none\"", at: key.keyOrigin)
            }
            guard let project, let apiKey, let appID else { return nil }
            return .firebase(
                Source.Firebase(
                    project: project, apiKey: apiKey, appID: appID, baseURL: baseURL,
                    realtimeURL: realtime ? realtimeURL : nil,
                    installationsURL: installationsURL))
        },
        schemes: [], members: { _ in [] })

    /// The server template of Firebase Remote Config.
    static let firebaseServer = SourceType(
        word: "firebase-server", keys: FirebaseServerKey.words, maxBody: firebaseMaxBody,
        read: { reader, report in
            let project = reader.required(
                FirebaseServerKey.project, .projectID,
                because: ", which type 'firebase-server' needs", &report)
            let credentials = reader.optional(
                FirebaseServerKey.credentials, .credential, &report)
            let baseURL = reader.value(
                FirebaseServerKey.baseURL, .serviceURL, default: remoteConfigURL, &report)
            let scope = reader.value(
                FirebaseServerKey.scope, .scope,
                default: "https://www.googleapis.com/auth/cloud-platform", &report)
            let randomizationID = reader.optional(
                FirebaseServerKey.randomizationID, .text("id"), &report)
            let signals = reader.optional(FirebaseServerKey.signals, .signals, &report)
            guard let project else { return nil }
            return .firebaseServer(
                Source.FirebaseServer(
                    project: project, credentials: credentials, baseURL: baseURL, scope: scope,
                    randomizationID: randomizationID, signals: signals ?? []))
        },
        schemes: [], members: { _ in [] })

    /// A template may have a million characters of values, and needs twice that for all of it.
    private static let firebaseMaxBody = 8 << 20

    private static let remoteConfigURL = "https://firebaseremoteconfig.googleapis.com"
}
