"""usage: statement.py ARTIFACT

Reads ARTIFACT.provenance.json with the bindings of the in-toto project, and ends with 1 unless it is a SLSA provenance of
exactly this artifact. Prints the commit.
"""
import hashlib
import sys

from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement, statement_pb2

path = sys.argv[1]
with open(f"{path}.provenance.json") as file:
    message = json_format.Parse(file.read(), statement_pb2.Statement())
statement.Statement.copy_from_pb(message).validate()
if message.predicate_type != "https://slsa.dev/provenance/v1":
    sys.exit(f"the predicate is '{message.predicate_type}'")
# Members that SLSA does not know are an error.
provenance = json_format.ParseDict(json_format.MessageToDict(message.predicate), provenance_pb2.Provenance())
for wanted in (provenance.build_definition.build_type, provenance.run_details.builder.id):
    if not wanted.startswith("https://"):
        sys.exit(f"'{wanted}' is no URI")
with open(path, "rb") as file:
    sha256 = hashlib.sha256(file.read()).hexdigest()
subjects = [(subject.name, dict(subject.digest)) for subject in message.subject]
if subjects != [(path.rsplit("/", 1)[-1], {"sha256": sha256})]:
    sys.exit(f"the subjects are {subjects}, and the artifact has {sha256}")
print(provenance.build_definition.external_parameters["commit"])
