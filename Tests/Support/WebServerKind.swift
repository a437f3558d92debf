/// The web servers for which the package has a snippet.
package enum WebServerKind: String, CaseIterable, Sendable {
    case nginx, apache2, haproxy, caddy

    /// A site on loopback before a back-end, with the snippet for the service `shop` of the daemon in `runtime`. A path
    /// `health` is always answered by the back-end.
    package func site(
        _ port: Int, before backEnd: Int, snippets: String, runtime: String, health: String? = nil
    ) -> String {
        switch self {
        case .nginx:
            """
            server {
                listen 127.0.0.1:\(port);
                set $killswitch_service shop;
                set $killswitch_health \(health ?? "\"\"");
                include \(snippets)/nginx.conf;
                location / {
                    include \(snippets)/nginx-sunset.conf;
                    proxy_pass http://127.0.0.1:\(backEnd);
                }
            }
            """
        case .apache2:
            """
            Listen 127.0.0.1:\(port)
            <VirtualHost *:\(port)>
                Define KILLSWITCH_SERVICE shop
                Define KILLSWITCH_HEALTH \(health ?? "none")
                Include \(snippets)/apache2.conf
                ProxyPass / http://127.0.0.1:\(backEnd)/
            </VirtualHost>
            """
        case .haproxy:
            """
            frontend web
                bind 127.0.0.1:\(port)
                http-request lua.killswitch \(runtime)/shop
                http-request use-service lua.killswitch if { var(txn.killswitch_closed) -m bool }\
            \(health.map { " !{ path \($0) }" } ?? "")
                http-response set-header Sunset %[var(txn.killswitch_sunset)] if { var(txn.killswitch_sunset) -m found }
                default_backend shop
            backend shop
                server one 127.0.0.1:\(backEnd)

            """
        case .caddy:
            """
            import \(snippets)/Caddyfile
            http://:\(port) {
                bind 127.0.0.1
                route {
                    import killswitch shop \(health ?? "/none")
                    import killswitch_sunset shop
                    reverse_proxy 127.0.0.1:\(backEnd)
                }
            }

            """
        }
    }

    /// The lines of Apache that load what the snippet and a proxy need.
    package static let apacheModules = [
        "mpm_event", "authz_core", "alias", "headers", "rewrite", "proxy", "proxy_http", "mime",
    ].map { "LoadModule \($0)_module modules/mod_\($0).so" }.joined(separator: "\n")

    /// The defaults of a proxy by haproxy.
    package static let haproxyDefaults = """
        defaults
            mode http
            timeout connect 5s
            timeout client 30s
            timeout server 30s
        """

    /// The options of a Caddy that serves HTTP alone, and has no interface for administrators.
    package static let caddyOptions = """
        {
            admin off
            auto_https off
        }
        """
}
