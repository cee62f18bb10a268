from collections.abc import Callable

from tests.infra.support import Synthesised


def test_the_table_is_encrypted_and_can_be_restored_to_a_point_in_time(every: Synthesised) -> None:
    table = every.one("DynamoDB::Table")

    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_the_table_has_the_agreed_keys_ttl_and_sparse_index(every: Synthesised) -> None:
    table = every.one("DynamoDB::Table")
    (index,) = table["GlobalSecondaryIndexes"]

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert index["IndexName"] == "due"
    assert index["KeySchema"] == [
        {"AttributeName": "due_shard", "KeyType": "HASH"},
        {"AttributeName": "due_at", "KeyType": "RANGE"},
    ]
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]} == {
        "pk": "S",
        "sk": "S",
        "due_shard": "S",
        "due_at": "N",
    }


def test_data_outlives_the_stack(in_aws: Synthesised) -> None:
    assert in_aws.one("DynamoDB::Table")["DeletionProtectionEnabled"] is True
    for kind in ("DynamoDB::Table", "S3::Bucket", "Cognito::UserPool"):
        for resource in in_aws.resources(kind).values():
            assert resource["DeletionPolicy"] == "Retain"
            assert resource["UpdateReplacePolicy"] == "Retain"


def test_the_bucket_is_private_encrypted_and_keeps_no_old_versions(every: Synthesised) -> None:
    bucket = every.one("S3::Bucket")

    assert "VersioningConfiguration" not in bucket
    assert "ObjectLockEnabled" not in bucket
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def test_only_aborted_uploads_leave_the_bucket_by_themselves(every: Synthesised) -> None:
    (rule,) = every.one("S3::Bucket")["LifecycleConfiguration"]["Rules"]

    assert rule == {
        "Id": "aborted-uploads",
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
        "Status": "Enabled",
    }


def test_the_bucket_refuses_requests_without_tls(in_aws: Synthesised) -> None:
    statements = in_aws.one("S3::BucketPolicy")["PolicyDocument"]["Statement"]

    denied = [each["Condition"] for each in statements if each["Effect"] == "Deny"]
    assert {"Bool": {"aws:SecureTransport": "false"}} in denied
    assert {"NumericLessThan": {"s3:TlsVersion": 1.2}} in denied


def test_the_emulated_stack_can_be_destroyed_and_used_without_tls(
    synthesise: Callable[[str], Synthesised],
) -> None:
    emulated = synthesise("emulated")

    assert emulated.resources("S3::BucketPolicy") == {}
    assert emulated.one("DynamoDB::Table")["DeletionProtectionEnabled"] is False
    for kind in ("DynamoDB::Table", "S3::Bucket", "Cognito::UserPool"):
        for resource in emulated.resources(kind).values():
            assert resource["DeletionPolicy"] == "Delete"


def test_the_emulated_stack_differs_in_nothing_else(synthesise: Callable[[str], Synthesised]) -> None:
    kinds = {
        name: sorted(resource["Type"] for resource in synthesise(name).template["Resources"].values())
        for name in ("emulated", "cognito")
    }

    tls_only = ["AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy"]  # the other queue has a policy that lets S3 send
    assert sorted([*kinds["emulated"], *tls_only]) == kinds["cognito"]
    for kind in ("Lambda::Function", "ApiGatewayV2::Route", "ApiGatewayV2::Stage", "IAM::Policy", "SQS::Queue"):
        assert synthesise("emulated").all(kind) == synthesise("cognito").all(kind)
