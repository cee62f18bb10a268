"""A bucket as the stack makes it, or a versioned one, for tests that run against an emulated S3."""

from typing import Any

BUCKET_NAME = "objects"


def create_bucket(client: Any, *, versioned: bool = False) -> None:
    """Create the bucket."""
    client.create_bucket(Bucket=BUCKET_NAME)
    if versioned:
        client.put_bucket_versioning(Bucket=BUCKET_NAME, VersioningConfiguration={"Status": "Enabled"})
