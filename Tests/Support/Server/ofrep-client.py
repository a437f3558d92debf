#!/usr/bin/env python3
"""Evaluates flags by OpenFeature's own client, and prints the results.

usage: ofrep-client.py URL BEARER
"""
import sys

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

url, bearer = sys.argv[1:]
api.set_provider(
    OFREPProvider(url, headers_factory=lambda: {"Authorization": "Bearer " + bearer}))
client = api.get_client()
host = EvaluationContext("machine-1", {"hostName": "web-1"})


def show(kind, details):
    error = details.error_code.value if details.error_code else "-"
    print(kind, repr(details.value), details.reason.value if hasattr(details.reason, "value")
          else details.reason, error, details.variant)


show("boolean", client.get_boolean_details("open", False, host))
show("string", client.get_string_details("end", "?", host))
show("integer", client.get_integer_details("count", 0, host))
show("float", client.get_float_details("share", 0.0, host))
show("object", client.get_object_details("shop", {}, host))
show("code default", client.get_boolean_details("left-to-code", True, host))
show("for this host", client.get_boolean_details("targeted", False, host))
show("for another", client.get_boolean_details(
    "targeted", False, EvaluationContext("machine-2", {"hostName": "web-2"})))
show("missing", client.get_boolean_details("none", False, host))
show("failed", client.get_boolean_details("broken", False, host))
show("no key", client.get_boolean_details("open", False, EvaluationContext()))
