#!/usr/bin/env python3
"""Checks an assertion for an access token by the official client's libraries, and makes their own.

usage: check-assertion.py ACCOUNT.json PUBLIC.pem ASSERTION

Prints {"ours", "theirs"}, each {"header", "claims"}. Three claims differ by nature: `iat` is left out,
`exp` counts from it, and `scope` says whether the official client asks for it too.
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
