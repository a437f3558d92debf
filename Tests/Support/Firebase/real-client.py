#!/usr/bin/env python3
"""The official client for servers, as a program that uses it: loads and evaluates the server template.

usage: real-client.py PORT ACCOUNT.json CONTEXT

The client is unchanged, except that its built-in base URL leads to 127.0.0.1:PORT.
Prints {"etag", "version", "values"}.
"""
import asyncio
import json
import logging
import sys

import firebase_admin
import requests.adapters
from firebase_admin import credentials, remote_config

logging.disable(logging.CRITICAL)
BASE = "https://firebaseremoteconfig.googleapis.com"


class Here(requests.adapters.HTTPAdapter):
    def send(self, request, **options):
        request.url = request.url.replace(BASE, f"http://127.0.0.1:{sys.argv[1]}")
        return super().send(request, **options)


app = firebase_admin.initialize_app(credentials.Certificate(sys.argv[2]), {"projectId": "demo"})
template = remote_config.init_server_template(app)
template._rc_service._client.session.mount(BASE, Here())
asyncio.run(template.load())
config = template.evaluate(json.loads(sys.argv[3]))
print(json.dumps({
    "etag": template._cache.etag,
    "version": template._cache.version,
    "values": {key: config.get_string(key) for key in config._config_values},
}))
