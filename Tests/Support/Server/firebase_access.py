"""Who may ask firebase-server.py for what: OAuth tokens, the metadata server and installations."""
import base64
import hashlib
import json
import re
import secrets
import time
import urllib.parse

from folder import read, replace

APP = re.compile(r"^1:[0-9]+:(android|ios|web):[0-9a-f]+$")
PREFIX = bytes.fromhex("3031300d060960864801650304020105000420")

access_tokens = {}
installations = {}
installation_tokens = {}


def case():
    return read("case", "ok").strip()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_signed(assertion, modulus):
    """RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.2), exponent 65537."""
    text, _, signature = assertion.rpartition(".")
    number = int(modulus, 16)
    size = (number.bit_length() + 7) // 8
    found = pow(int.from_bytes(decode(signature), "big"), 65537, number).to_bytes(size, "big")
    tail = b"\0" + PREFIX + hashlib.sha256(text.encode()).digest()
    return found == b"\0\1" + b"\xff" * (size - 2 - len(tail)) + tail


def flaw_of(assertion):
    """Why the token endpoint refuses an assertion."""
    try:
        head, claims = (json.loads(decode(part)) for part in assertion.split(".")[:2])
        modulus = json.loads(read("accounts.json"))[claims["iss"]][head["kid"]]
        if head["alg"] != "RS256" or not is_signed(assertion, modulus):
            return "Invalid JWT Signature."
    except (ValueError, KeyError, TypeError):
        return "Invalid grant: account not found"
    if claims.get("aud") != "https://oauth2.googleapis.com/token" or not claims.get("scope"):
        return "Invalid JWT: wrong audience or scope."
    if abs(claims["iat"] - time.time()) > 300 or not 0 < claims["exp"] - claims["iat"] <= 3600:
        return ("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
                "timeframe. Check your iat and exp values in the JWT claim.")
    return None


class Refusal(Exception):
    def __init__(self, code, status, message, headers=()):
        self.code, self.headers = code, headers
        self.body = {"error": {"code": code, "message": message, "status": status}}


REFUSALS = {
    "401": Refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
    "403": Refusal(403, "PERMISSION_DENIED",
                   "Permission 'cloudconfig.configs.get' denied on resource '//demo'."),
    "404": Refusal(404, "NOT_FOUND", "Requested entity was not found."),
    "429": Refusal(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", [("Retry-After", "2")]),
    "503": Refusal(503, "UNAVAILABLE", "The service is currently unavailable."),
}


class Access:
    """The part of the request handler that gives and checks tokens."""

    # OAuth and the metadata server.

    def give_token(self, kind, extra=()):
        lifetime = 1 if self.case == "short-tokens" else 3599
        token = "ya29." + secrets.token_urlsafe(24)
        access_tokens[token] = (time.time() + lifetime, kind)
        self.send(200, {"access_token": token, "expires_in": lifetime, "token_type": "Bearer"},
                  extra)

    def oauth(self, body):
        if self.case == "token-503":
            raise REFUSALS["503"]
        form = urllib.parse.parse_qs(body.decode())
        if form.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
            return self.send(400, {"error": "unsupported_grant_type"})
        assertion = form.get("assertion", [""])[0]
        if flaw := flaw_of(assertion):
            return self.send(400, {"error": "invalid_grant", "error_description": flaw})
        head = json.loads(decode(assertion.split(".")[0]))
        self.give_token(head["kid"])

    def metadata(self, _):
        if self.headers.get("Metadata-Flavor") != "Google":
            raise Refusal(403, "PERMISSION_DENIED", "Metadata-Flavor is missing.")
        self.give_token(None, [] if self.case == "no-flavor" else [("Metadata-Flavor", "Google")])

    def check_bearer(self):
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.case == "forget-tokens":
            access_tokens.pop(token, None)
            replace("case", "ok")
        expires, kind = access_tokens.get(token, (0, None))
        known = [kid for keys in json.loads(read("accounts.json") or "{}").values() for kid in keys]
        if expires < time.time() or kind is not None and kind not in known:
            raise REFUSALS["401"]

    # Installations.

    def give_installation_token(self, fid):
        token = "eyFIS." + secrets.token_urlsafe(24)
        installation_tokens[token] = fid
        return {"token": token, "expiresIn": "604800s"}

    def register(self, body, project):
        self.check_key(project)
        if self.case == "installations-503":
            raise REFUSALS["503"]
        asked = json.loads(body)
        if (not re.fullmatch(r"[cdef][\w-]{21}", asked.get("fid", ""))
                or asked.get("authVersion") != "FIS_v2" or not asked.get("sdkVersion")
                or not APP.match(asked.get("appId", ""))):
            raise Refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        installations[asked["fid"]] = "refresh-" + secrets.token_hex(8)
        self.send(200, {
            "name": f"projects/demo/installations/{asked['fid']}", "fid": asked["fid"],
            "refreshToken": installations[asked["fid"]],
            "authToken": self.give_installation_token(asked["fid"])})

    def renew(self, body, project, fid):
        self.check_key(project)
        if self.case == "installations-503":
            raise REFUSALS["503"]
        if self.case == "forget-installations":
            installations.pop(fid, None)
        if fid not in installations:
            raise REFUSALS["404"]
        if self.headers.get("Authorization") != "FIS_v2 " + installations[fid]:
            raise REFUSALS["401"]
        if not json.loads(body)["installation"]["appId"]:
            raise Refusal(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
        self.send(200, self.give_installation_token(fid))

    def check_installation(self, fid, needed):
        token = self.headers.get("X-Goog-Firebase-Installations-Auth")
        if token is None and not needed:
            return
        if self.case == "forget-tokens":
            installation_tokens.pop(token, None)
            replace("case", "ok")
        if installation_tokens.get(token) != fid:
            raise REFUSALS["401"]
