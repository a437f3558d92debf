"""nginx on loopback, the document that it serves, and its changes: what benchmarks of polls share."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Folder:
    def __init__(self, parent=None):
        self.path = tempfile.mkdtemp(prefix="killswitchd-bench.", dir=parent)

    def __call__(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        with open(self(name + ".new"), "w") as file:
            file.write(text)
        os.rename(self(name + ".new"), self(name))


class Nginx:
    def __init__(self, folder):
        self.folder = folder
        subprocess.run(
            [os.path.join(ROOT, "Tests/Support/Server/make-certificates"), folder.path], check=True,
            stderr=subprocess.DEVNULL)
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            two.bind(("127.0.0.1", 0))
            self.port, self.secure_port = one.getsockname()[1], two.getsockname()[1]
        for name in ("www", "temporary"):
            os.mkdir(folder(name))
        temporary = "\n".join(
            f"{kind}_temp_path {folder('temporary')};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        folder.write("nginx.conf", f"""
            daemon off; master_process off; pid {folder('pid')};
            events {{ worker_connections 4096; }}
            http {{
                {temporary}
                log_format short '$arg_by$http_user_agent $status';
                access_log {folder('access.log')} short;
                types {{ application/json json; }}
                keepalive_requests 100000000;
                root {folder('www')};
                server {{ listen 127.0.0.1:{self.port}; }}
                server {{
                    listen 127.0.0.1:{self.secure_port} ssl;
                    ssl_certificate {folder('server.pem')};
                    ssl_certificate_key {folder('server.pem')};
                }}
            }}""")
        self.program = subprocess.Popen(
            ["/usr/sbin/nginx", "-p", folder.path, "-c", folder("nginx.conf"), "-e",
             folder("error.log")])
        while not os.path.exists(folder("pid")):
            if self.program.poll() is not None:
                sys.exit("run: nginx does not start")
            time.sleep(0.01)
        self.log = open(folder("access.log"))
        self.counts = {}

    def count(self):
        """The number of answers so far, by client and status."""
        for line in self.log:
            agent, _, status = line.rstrip().rpartition(" ")
            # Without the argument nginx writes a dash.
            key = (agent.split("/")[0].removeprefix("-"), status)
            self.counts[key] = self.counts.get(key, 0) + 1
        return dict(self.counts)

    def stop(self):
        self.program.terminate()
        self.program.wait()


def document(number):
    """7 KB of flags. The sizes differ, because nginx derives ETags from the size and the second."""
    flags = {
        f"feature_{index}": {"enabled": index % 3 == 0, "rollout": index, "note": "as agreed " * 4}
        for index in range(66)
    }
    value = {"apiInactive": False, "forceUpdate": False, "userMessage": None, "counter": number,
             "pad": "x" * (number % 40), **flags}
    return json.dumps(value)


class Changes:
    """Replaces the document every 40 ms, so that each poll finds a change."""

    def __init__(self, folder):
        self.folder, self.is_on = folder, True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        number = 0
        while self.is_on:
            number += 1
            self.folder.write("www/flags.json", document(number))
            time.sleep(0.04)

    def stop(self):
        self.is_on = False
        self.thread.join()
