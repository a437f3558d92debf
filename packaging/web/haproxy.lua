-- HAProxy answers 503 with the page of a service of killswitchd(8) while people should see it, and tells its
-- announced end in the header Sunset (RFC 8594) while it counts down.
--
--     global
--         lua-load-per-thread /etc/killswitchd/web/haproxy.lua
--
--     frontend web
--         bind :80
--         http-request lua.killswitch /run/killswitchd/shop
--         http-request use-service lua.killswitch if { var(txn.killswitch_closed) -m bool } !{ path /healthz }
--         http-response set-header Sunset %[var(txn.killswitch_sunset)] if { var(txn.killswitch_sunset) -m found }
--         default_backend shop
--
-- The path in the last condition stays open. HAProxy looks for the file /run/killswitchd/shop/unavailable at each
-- request: nothing is reloaded when the switch fires. The file is there while the gate is closed, and while it opens and
-- the units of the service are not up yet. Clients that ask for JSON and not for HTML get the problem document.
--
-- A HAProxy with "chroot /var/lib/haproxy", as Debian configures it, sees no other folder. Show it this one:
--
--     systemctl edit haproxy
--         [Service]
--         BindReadOnlyPaths=/run/killswitchd:/var/lib/haproxy/run/killswitchd

-- The content of a file; nil if it cannot be read.
local function content(path)
    local file = io.open(path, "rb")
    if not file then
        return nil
    end
    local bytes = file:read("a")
    file:close()
    return bytes
end

core.register_action("killswitch", { "http-req" }, function(txn, folder)
    txn:set_var("txn.killswitch_folder", folder)
    local marker = io.open(folder .. "/unavailable", "rb")
    if marker then
        marker:close()
        txn:set_var("txn.killswitch_closed", true)
        return
    end
    local sunset = content(folder .. "/sunset")
    if sunset then
        txn:set_var("txn.killswitch_sunset", sunset)
    end
end, 1)

core.register_service("killswitch", "http", function(applet)
    local folder = applet:get_var("txn.killswitch_folder")
    local accept = ""
    for _, value in pairs(applet.headers["accept"] or {}) do
        accept = accept .. value:lower() .. ","
    end
    local problem = content(folder .. "/problem.json")
    local wants_json = accept:find("application/[a-z.+-]*json") and not accept:find("text/html", 1, true)
    local body, kind
    if wants_json and problem then
        body, kind = problem, "application/problem+json"
    else
        body, kind = content(folder .. "/page.html"), "text/html; charset=utf-8"
    end
    body = body or "<!DOCTYPE html><title>503 Service Unavailable</title><h1>Service Unavailable</h1>"
    applet:set_status(503, "Service Unavailable")
    applet:add_header("content-type", kind)
    applet:add_header("content-length", tostring(#body))
    applet:add_header("cache-control", "no-store")
    local seconds = (content(folder .. "/retry-after") or ""):match("^%d+")
    if seconds then
        applet:add_header("retry-after", seconds)
    end
    applet:start_response()
    if applet.method ~= "HEAD" then
        applet:send(body)
    end
end)
