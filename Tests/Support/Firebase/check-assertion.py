#!/usr/bin/env python3
"""Verifies an assertion for an access token with the official client's libraries, and makes another.

usage: check-assertion.py ACCOUNT.json PUBLIC.pem ASSERTION

Prints {"ours", "theirs"}, each {"header", "claims"}. Three claims cannot be
equal: `iat` is left out, `exp` counts from it, and `scope` tells whether the official client asks for the
same scope.
"""
import json
import sys

from firebase_admin import credentials
from google.auth import jwt

account, public_key = sys.argv[1], open(sys.argv[2], "rb").read()
official = credentials.Certificate(account).get_credential()
scopes = official.scopes


def shown(assertion, key):
    header = jwt.decode_header(assertion)
    claims = jwt.decode(assertion, certs=key, audience="https://oauth2.googleapis.com/token")
    claims["exp"] -= claims.pop("iat")
    claims["scope"] = all(scope in scopes for scope in claims["scope"].split())
    return {"header": header, "claims": claims}


ours = shown(sys.argv[3], public_key)
theirs = official._make_authorization_grant_assertion()
print(json.dumps({"ours": ours, "theirs": shown(theirs, public_key)}))
