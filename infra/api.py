"""The HTTP API: which routes need a caller, how fast they may come, and what the access log says.

Everything under ``/v1/users/`` needs a caller that the authorizer vouches for. What is open tells
nothing about anybody: health, the API's description, and the answer to unknown routes.
"""

import json
from typing import cast

from aws_cdk import Acknowledgment, ArnFormat, Stack, Validations
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.logs import log_group
from infra.settings import StackSettings

GUARDED_ROUTE = "/v1/users/{proxy+}"
OPEN_ROUTES = ("/health", "/openapi.json", "/docs")
# No path and no query string: both may hold what is personal. The function's line has the same request id.
_ACCESS_LOG_FIELDS = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "method": "$context.httpMethod",
    "route": "$context.routeKey",
    "status": "$context.status",
    "response_bytes": "$context.responseLength",
    "latency_ms": "$context.responseLatency",
    "integration_latency_ms": "$context.integrationLatency",
    "integration_error": "$context.integrationErrorMessage",
    "authorizer_error": "$context.authorizer.error",
    "error": "$context.error.message",
    "source_ip": "$context.identity.sourceIp",
}


class Api(Construct):
    """An HTTP API in front of one function.

    Parameters
    ----------
    function : IFunction
        Gets every request, payload format 2.0.
    guard : IHttpRouteAuthorizer
        Must vouch for callers of the routes under ``/v1/users/``.
    settings : StackSettings
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        function: lambda_.IFunction,
        guard: apigateway.IHttpRouteAuthorizer,
        settings: StackSettings,
    ) -> None:
        super().__init__(scope, construct_id)
        integration = integrations.HttpLambdaIntegration("Function", function)
        self.http_api = apigateway.HttpApi(
            self,
            "HttpApi",
            api_name=f"recollect-{settings.stage}",
            default_integration=integration,
            create_default_stage=False,
        )
        self.http_api.add_routes(
            path=GUARDED_ROUTE, methods=[apigateway.HttpMethod.ANY], integration=integration, authorizer=guard
        )
        for path in OPEN_ROUTES:
            self.http_api.add_routes(path=path, methods=[apigateway.HttpMethod.GET], integration=integration)
        self._explain_open_routes()
        self.access_log_group = log_group(self, "AccessLogs", retention_days=settings.log_retention_days)
        self.stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.http_api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=settings.throttle_rate, burst_limit=settings.throttle_burst
            ),
        )
        stage = cast("apigateway.CfnStage", self.stage.node.default_child)
        stage.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            destination_arn=_arn_without_wildcard(self.access_log_group),
            format=json.dumps(_ACCESS_LOG_FIELDS),
        )

    def _explain_open_routes(self) -> None:
        keys = {"$default", *(f"GET {path}" for path in OPEN_ROUTES)}
        reason = (
            "Open on purpose: health, the API's description, or the answer to an unknown route;"
            " none touches a user's partition."
        )
        for route in self.http_api.node.find_all():
            if isinstance(route, apigateway.CfnRoute) and route.route_key in keys:
                Validations.of(route).acknowledge(Acknowledgment(id="AwsSolutions-APIG4", reason=reason))


def _arn_without_wildcard(group: logs.LogGroup) -> str:
    """Name a log group as API Gateway wants it: the group's own attribute ends in ``:*``."""
    return Stack.of(group).format_arn(
        service="logs",
        resource="log-group",
        resource_name=group.log_group_name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
