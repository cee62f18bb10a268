"""Short ways to ask a template."""

from dataclasses import dataclass
from typing import Any

Properties = dict[str, Any]


@dataclass(frozen=True)
class Synthesised:
    """A template, and what cdk-nag said about it."""

    template: dict[str, Any]
    findings: str

    def resources(self, kind: str) -> dict[str, dict[str, Any]]:
        """Give the resources of a kind (``"S3::Bucket"``) by logical id."""
        found: dict[str, dict[str, Any]] = {
            name: resource
            for name, resource in self.template["Resources"].items()
            if resource["Type"] == f"AWS::{kind}"
        }
        return found

    def all(self, kind: str) -> list[Properties]:
        """Give the properties of all resources of a kind."""
        return [resource["Properties"] for resource in self.resources(kind).values()]

    def one(self, kind: str) -> Properties:
        """Give the properties of the only resource of a kind."""
        (properties,) = self.all(kind)
        return properties

    def function(self, name: str) -> Properties:
        """Give the properties of a function: ``"Api"`` or ``"Ingest"``."""
        (found,) = [key for key in self.resources("Lambda::Function") if key.startswith(f"{name}Function")]
        properties: Properties = self.resources("Lambda::Function")[found]["Properties"]
        return properties

    @property
    def outputs(self) -> dict[str, Any]:
        """Give the outputs by name."""
        return {name: output["Value"] for name, output in self.template["Outputs"].items()}

    @property
    def queue(self) -> str:
        """Give the logical id of the queue of jobs."""
        (found,) = [name for name, one in self.resources("SQS::Queue").items() if "RedrivePolicy" in one["Properties"]]
        return found

    def rights(self, function: str) -> list[Properties]:
        """Give every statement that allows a function something; actions and resources are lists."""
        role = self.function(function)["Role"]["Fn::GetAtt"][0]
        documents = [policy["PolicyDocument"] for policy in self.all("IAM::Policy") if {"Ref": role} in policy["Roles"]]
        return _statements(documents)

    @property
    def statements(self) -> list[Properties]:
        """Give every statement that allows a role something; actions and resources are lists."""
        documents = [policy["PolicyDocument"] for policy in self.all("IAM::Policy")]
        for role in self.all("IAM::Role"):
            documents += [policy["PolicyDocument"] for policy in role.get("Policies", [])]
        return _statements(documents)


def _statements(documents: list[Properties]) -> list[Properties]:
    return [
        {**statement, "Action": _list(statement["Action"]), "Resource": _list(statement["Resource"])}
        for document in documents
        for statement in document["Statement"]
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
