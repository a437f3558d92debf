import Configuration
import Files
import JSON
import SourceSettings
import Testing

struct FirebaseTests {
    @Test func theDefaultsAreThePublicServiceAndThisHost() throws {
        let source = try #require(
            try load(
                """
                [source.app]
                type = "firebase-server"
                project = "demo-1"
                [service.shop]
                source = "app"
                format = "service-end"
                """
            ).sources.first)
        #expect(
            source.kind
                == .firebaseServer(
                    FirebaseServerSettings(
                        project: "demo-1", credential: nil,
                        baseURL: "https://firebaseremoteconfig.googleapis.com",
                        scope: "https://www.googleapis.com/auth/cloud-platform",
                        randomizationID: nil, signals: [:],
                        limits: FetchLimits(maxBody: 8 << 20))))
    }

    @Test func everyKeyIsReadAndTrailingSlashesAreDropped() throws {
        let ratio = try #require(Number(0.5))
        let sources = try load(
            """
            [source.app]
            type = "firebase"
            project = "demo"
            api_key = "AIza"
            app_id = "1:1:web:a"
            base_url = "https://a.example.com/x//"
            realtime = true
            realtime_url = "http://127.1.2.3:80/"
            installations_url = "http://[::1]:1/"
            max_body = "1KiB"
            [source.two]
            type = "firebase"
            project = "demo"
            api_key = "AIza"
            app_id = "1:1:web:a"
            installations_url = "none"
            [source.server]
            type = "firebase-server"
            project = "demo"
            credentials = "/etc/key.json"
            base_url = "http://localhost:8080"
            scope = "a b"
            randomization_id = "me"
            signals = { tier = "gold", build = 42, ratio = 0.5 }
            [service.shop]
            source = "app"
            format = "service-end"
            """
        ).sources
        #expect(
            sources.map(\.kind) == [
                .firebase(
                    FirebaseSettings(
                        project: "demo", apiKey: "AIza", appID: "1:1:web:a",
                        baseURL: "https://a.example.com/x", realtimeURL: "http://127.1.2.3:80",
                        installationsURL: "http://[::1]:1",
                        limits: FetchLimits(maxBody: 1024))),
                .firebase(
                    FirebaseSettings(
                        project: "demo", apiKey: "AIza", appID: "1:1:web:a",
                        baseURL: "https://firebaseremoteconfig.googleapis.com", realtimeURL: nil,
                        installationsURL: nil, limits: FetchLimits(maxBody: 8 << 20))),
                .firebaseServer(
                    FirebaseServerSettings(
                        project: "demo", credential: .file("/etc/key.json"),
                        baseURL: "http://localhost:8080", scope: "a b", randomizationID: "me",
                        signals: ["build": 42, "ratio": .number(ratio), "tier": "gold"],
                        limits: FetchLimits(maxBody: 8 << 20))),
            ])
    }
}
