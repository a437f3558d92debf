import Support
import Testing

extension Packaged {
    /// Each guide is typed as it is written, section by section, on a host of the README's administrator.
    @Suite(.serialized)
    struct GuideTests {
        private let guide: GuideHost
        private var host: PackageHost { guide.host }

        init() throws { guide = try GuideHost() }

        @Test func aWebShopIsClosedForMaintenance() throws {
            try host.undoing("systemctl stop nginx; rm -rf /etc/nginx/conf.d/shop.conf /srv/shop") {
                try guide.follow(
                    "maintenance.md", "Prepare the host", "Close it now",
                    "Close it on one host by hand", "Plan it")
            }
        }

        @Test func aServiceIsRetiredOnADate() throws {
            try guide.follow("retire.md", "Announce the end", "Rehearse it", "After the end")
        }

        @Test func aJobIsHeldBackUntilTheServiceIsOpen() throws {
            try guide.follow(
                "deployment.md", "While the service is open", "While the service is down",
                "From a pipeline on another machine")
        }

        @Test func anOrderIsSignedByTwoPeople() throws {
            try host.undoing("rm -f /etc/killswitchd/conf.d/signed.toml && killswitchctl reload") {
                try guide.follow("signing.md", "Sign your first order", "Ask for a second person")
            }
        }

        @Test func aServiceClosesInStepsAndComesBackGently() throws {
            try host.undoing("rm -f /etc/killswitchd/conf.d/gently.toml && killswitchctl reload") {
                try guide.follow(
                    "steps.md", "Close in steps", "Let load balancers turn away first",
                    "Reopen one after the other")
            }
        }

        @Test func manyServersFollowOneFirebaseProject() throws {
            try host.run("killswitchctl detach shop shop.service")
            let google = try GoogleStandIn(on: host)
            try google.publish(maintenance: #"{"isUnderMaintenance": false}"#, version: 1)
            try guide.follow("many-servers.md", "On every server")
            try google.publish(
                maintenance: #"{"isUnderMaintenance": true, "message": "Back at noon."}"#,
                version: 2)
            try guide.follow(
                "many-servers.md", "Close the shop everywhere", "What else belongs to many servers")
        }
    }
}

/// The stand-in for the services of Firebase, inside the booted system. A drop-in of the configuration leads the
/// daemon to it, and the folder of the guide has the key of an account that it knows.
private struct GoogleStandIn {
    private static let folder = "/srv/t-google"
    private let host: PackageHost

    init(on host: PackageHost) throws {
        self.host = host
        try host.run("systemctl stop t-google 2>/dev/null; rm -rf \(Self.folder)")
        for file in ["firebase-server.py", "firebase_access.py", "folder.py"] {
            try host.system.copy(
                "\(Programs.project)/Tests/Support/Server/\(file)", to: Self.folder)
        }
        let port = try freePort()
        // The server ends with its parent, unless that is systemd from the start.
        try host.run(
            """
            mkdir \(Self.folder)/data
            systemd-run --quiet --unit=t-google \\
                sh -c 'python3 -B \(Self.folder)/firebase-server.py \(Self.folder)/data \(port) & wait'
            """)
        try host.system.wait(until: "test -s \(Self.folder)/data/now")
        let url = "http://127.0.0.1:\(port)"
        try host.system.write(Self.makeKey, to: "\(Self.folder)/make-key")
        try host.run("python3 \(Self.folder)/make-key \(url) \(PackageHost.folder)/google.json")
        try host.system.write(
            "[source.app]\nproject = \"demo\"\nbase_url = \"\(url)\"\n",
            to: "/etc/killswitchd/conf.d/zz-stand-in.toml")
    }

    func publish(maintenance: String, version: Int) throws {
        let quoted = maintenance.replacing("\"", with: "\\\"")
        try host.system.write(
            """
            {"conditions": [], "version": {"versionNumber": "\(version)"}, "parameters": {
              "service_end": {"defaultValue": {"value": "no"}, "valueType": "STRING"},
              "server_maintenance_config":
                {"defaultValue": {"value": "\(quoted)"}, "valueType": "JSON"}}}
            """, to: "\(Self.folder)/data/server-template.json")
    }

    private static let makeKey = """
        import json, subprocess, sys
        url, path = sys.argv[1:]
        run = lambda *words, **more: subprocess.run(words, check=True, stdout=-1, text=True, **more).stdout
        key = run("openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        modulus = run("openssl", "rsa", "-noout", "-modulus", input=key).strip().split("=")[1]
        with open(path, "w") as file:
            json.dump({"type": "service_account", "project_id": "demo", "private_key_id": "one",
                       "private_key": key, "client_email": "flags@demo.iam", "token_uri": url + "/token"}, file)
        with open("/srv/t-google/data/accounts.json", "w") as file:
            json.dump({"flags@demo.iam": {"one": modulus}}, file)
        """
}
