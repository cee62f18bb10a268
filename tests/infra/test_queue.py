from collections.abc import Callable

import pytest
from recollect import keys, progress

from functions.ingest.handler import ENDING_MS
from tests.infra.support import Properties, Synthesised

_TLS_ONLY = {"Bool": {"aws:SecureTransport": "false"}}


def _policies(synthesised: Synthesised) -> dict[str, list[Properties]]:
    return {
        policy["Queues"][0]["Ref"]: policy["PolicyDocument"]["Statement"]
        for policy in synthesised.all("SQS::QueuePolicy")
    }


def test_the_queue_gives_a_message_as_often_as_the_ingestion_counts(every: Synthesised) -> None:
    redrive = every.resources("SQS::Queue")[every.queue]["Properties"]["RedrivePolicy"]

    assert redrive["maxReceiveCount"] == progress.MAX_RECEIVES


def test_what_failed_three_times_waits_two_weeks_in_the_dead_letter_queue(every: Synthesised) -> None:
    redrive = every.resources("SQS::Queue")[every.queue]["Properties"]["RedrivePolicy"]
    (dead_letters,) = every.resources("SQS::Queue").keys() - {every.queue}

    assert redrive == {"deadLetterTargetArn": {"Fn::GetAtt": [dead_letters, "Arn"]}, "maxReceiveCount": 3}
    for queue in every.all("SQS::Queue"):
        assert queue["MessageRetentionPeriod"] == 14 * 24 * 3600
        assert queue["SqsManagedSseEnabled"] is True


def test_a_message_stays_hidden_six_times_as_long_as_the_function_may_run(every: Synthesised) -> None:
    visibility = every.resources("SQS::Queue")[every.queue]["Properties"]["VisibilityTimeout"]

    assert visibility >= 6 * every.function("Ingest")["Timeout"]


def test_the_function_has_more_time_than_its_last_passage_may_take(every: Synthesised) -> None:
    assert every.function("Ingest")["Timeout"] * 1000 > 1.5 * ENDING_MS


def test_the_function_takes_batches_and_tells_which_messages_failed(every: Synthesised) -> None:
    mapping = every.one("Lambda::EventSourceMapping")

    assert mapping["EventSourceArn"] == {"Fn::GetAtt": [every.queue, "Arn"]}
    assert mapping["FunctionName"]["Ref"].startswith("IngestFunction")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] > 1
    assert mapping["ScalingConfig"]["MaximumConcurrency"] >= 2


def test_the_queues_refuse_requests_without_tls(in_aws: Synthesised) -> None:
    policies = _policies(in_aws)

    assert policies.keys() == in_aws.resources("SQS::Queue").keys()
    for statements in policies.values():
        assert [each["Condition"] for each in statements if each["Effect"] == "Deny"] == [_TLS_ONLY]


def test_only_buckets_of_this_account_and_stack_may_send_beside_the_functions(every: Synthesised) -> None:
    (statement,) = [each for each in _policies(every)[every.queue] if each["Effect"] == "Allow"]

    assert statement["Principal"] == {"Service": "s3.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    (arn,) = statement["Condition"]["ArnLike"].values()
    assert arn["Fn::Join"][1][-1].startswith(":s3:::recollect-")


@pytest.mark.parametrize(("deployment", "begin"), [("cognito", "recollect-dev*"), ("prod", "recollect-prod*")])
def test_the_policy_knows_how_the_names_of_the_stack_s_buckets_begin(
    synthesise: Callable[[str], Synthesised], deployment: str, begin: str
) -> None:
    (statement,) = [
        each for each in _policies(synthesise(deployment))[synthesise(deployment).queue] if each["Effect"] == "Allow"
    ]

    assert statement["Condition"]["ArnLike"]["aws:SourceArn"]["Fn::Join"][1][-1] == f":s3:::{begin}"


def test_the_bucket_tells_the_queue_of_uploads_and_of_nothing_else(every: Synthesised) -> None:
    (bucket,) = every.resources("S3::Bucket").values()
    (told,) = bucket["Properties"]["NotificationConfiguration"]["QueueConfigurations"]
    rules = {rule["Name"]: rule["Value"] for rule in told["Filter"]["S3Key"]["Rules"]}

    assert told["Queue"] == {"Fn::GetAtt": [every.queue, "Arn"]}
    assert told["Event"] == "s3:ObjectCreated:*"
    assert rules == {"prefix": "users/", "suffix": keys.UPLOAD_SUFFIX}


def test_the_queue_lets_the_bucket_send_before_the_bucket_tries(every: Synthesised) -> None:
    (bucket,) = every.resources("S3::Bucket").values()
    policies = every.resources("SQS::QueuePolicy")

    assert [policies[name]["Properties"]["Queues"] for name in bucket["DependsOn"]] == [[{"Ref": every.queue}]]


def test_an_alarm_tells_of_dead_letters(every: Synthesised) -> None:
    alarm = every.one("CloudWatch::Alarm")
    (dead_letters,) = every.resources("SQS::Queue").keys() - {every.queue}

    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": {"Fn::GetAtt": [dead_letters, "QueueName"]}}]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanOrEqualToThreshold", 1)
