import Files
import Glibc
import Support

/// A real nginx on loopback that serves `www/`: with TLS, HTTP/2 and client certificates on a port,
/// and in clear on a Unix socket.
final class Nginx {
    let folder: TemporaryFolder
    let port: Int
    private let program: Program

    init() async throws {
        folder = try TemporaryFolder()
        port = try freePort()
        try FlagServer.makeCertificates(in: folder)
        try Directory.create(folder("www"))
        try folder.write(Self.configuration(folder.path, port), to: "nginx.conf")
        program = try Program(
            "/usr/sbin/nginx",
            ["-p", folder.path, "-c", folder("nginx.conf"), "-e", folder("error.log")])
        let (folder, program) = (folder, program)
        try await waitUntil("nginx runs", orReport: { try program.errors }) {
            try File.exists(folder("pid"))
        }
    }

    /// The access log, a line for each request: protocol, verification of the client certificate, status.
    var log: [Substring] { get throws { try folder.text(of: "access.log").split(separator: "\n") } }

    private static func configuration(_ folder: String, _ port: Int) -> String {
        """
        \(beginning(folder))
            log_format short '$server_protocol $ssl_client_verify $status $request_uri';
            access_log \(folder)/access.log short;
            types { application/json json; }
            gzip on;
            gzip_types application/json;
            gzip_min_length 1;
            keepalive_requests 1000000;
            root \(folder)/www;
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate \(folder)/server.pem;
                ssl_certificate_key \(folder)/server.key;
                ssl_client_certificate \(folder)/authority.pem;
                ssl_verify_client on;
            }
            server {
                listen unix:\(folder)/socket;
                location /dated/ { alias \(folder)/www/; etag off; }
            }
        }
        """
    }

    /// The beginning of the configuration of an nginx with its files in a folder.
    static func beginning(_ folder: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: "\n")
        return """
            daemon off;
            master_process off;
            pid \(folder)/pid;
            events {}
            http {
                \(temporary)
            """
    }
}
