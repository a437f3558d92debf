#!/usr/bin/env python3
"""Evaluates server templates by the official client for servers, `firebase-admin`.

usage: official-client.py CASES ANSWERS COUNTS

Each line of CASES is a JSON object: {"template": ..., "context": {...}}. ANSWERS gets one object a line:
the parameters with a remote value. COUNTS gets {operator: [times false, times true]}.
"""
import json
import logging
import sys
from collections import defaultdict

from firebase_admin import remote_config

logging.disable(logging.CRITICAL)
counts = defaultdict(lambda: [0, 0])


class Evaluator(remote_config._ConditionEvaluator):
    """The client's evaluator, which also counts the results of each condition."""

    def evaluate_condition(self, condition, context, nesting_level=0):
        result = super().evaluate_condition(condition, context, nesting_level)
        counts[kind(condition)][bool(result)] += 1
        return result


def kind(condition):
    for name in ("orCondition", "andCondition", "true", "false"):
        if condition.get(name) is not None:
            return name
    if (percent := condition.get("percent")) is not None:
        return percent.get("percentOperator", "none")
    if (signal := condition.get("customSignal")) is not None:
        return signal.get("customSignalOperator", "none")
    return "unknown"


with open(sys.argv[1]) as cases, open(sys.argv[2], "w") as answers:
    for line in cases:
        case = json.loads(line)
        template = remote_config._ServerTemplateData(case["template"])
        values = Evaluator(
            template.conditions, template.parameters, case["context"], {}).evaluate()
        flags = {key: value.as_string() for key, value in values.items()
                 if value.get_source() == "remote"}
        answers.write(json.dumps(flags) + "\n")
with open(sys.argv[3], "w") as file:
    json.dump(counts, file)
