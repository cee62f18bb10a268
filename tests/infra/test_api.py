import json
from collections.abc import Callable

import pytest

from tests.infra.support import Synthesised

_OPEN_ROUTES = {"$default", "GET /health", "GET /openapi.json", "GET /docs"}
_GUARDED_ROUTE = "ANY /v1/users/{proxy+}"


def _authorization(synthesised: Synthesised) -> dict[str, str]:
    return {
        route["RouteKey"]: route.get("AuthorizationType", "NONE") for route in synthesised.all("ApiGatewayV2::Route")
    }


def test_exactly_four_routes_are_open(every: Synthesised) -> None:
    authorization = _authorization(every)

    assert {route for route, kind in authorization.items() if kind == "NONE"} == _OPEN_ROUTES
    assert authorization.keys() == {*_OPEN_ROUTES, _GUARDED_ROUTE}


@pytest.mark.parametrize(("deployment", "kind"), [("cognito", "JWT"), ("jwt", "JWT"), ("iam", "AWS_IAM")])
def test_the_users_route_is_guarded_by_the_authorizer_asked_for(
    synthesise: Callable[[str], Synthesised], deployment: str, kind: str
) -> None:
    assert _authorization(synthesise(deployment))[_GUARDED_ROUTE] == kind


def test_a_jwt_authorizer_has_the_issuer_and_audiences_of_the_context(
    synthesise: Callable[[str], Synthesised],
) -> None:
    deployment = synthesise("jwt")

    authorizer = deployment.one("ApiGatewayV2::Authorizer")

    assert authorizer["JwtConfiguration"] == {
        "Issuer": "https://issuer.example.org",
        "Audience": ["agents", "people"],
    }
    assert deployment.outputs["Issuer"] == "https://issuer.example.org"
    assert deployment.resources("Cognito::UserPool") == {}


def test_a_cognito_authorizer_accepts_both_clients_of_the_pool(
    synthesise: Callable[[str], Synthesised],
) -> None:
    deployment = synthesise("cognito")

    audience = deployment.one("ApiGatewayV2::Authorizer")["JwtConfiguration"]["Audience"]

    assert {each["Ref"] for each in audience} == deployment.resources("Cognito::UserPoolClient").keys()
    assert deployment.outputs.keys() >= {"Issuer", "UserPoolId", "UserClientId", "ServiceClientId", "TokenUrl"}


def test_only_the_service_client_can_get_the_scope_for_any_user(
    synthesise: Callable[[str], Synthesised],
) -> None:
    clients = synthesise("cognito").all("Cognito::UserPoolClient")

    (service,) = [each for each in clients if each.get("GenerateSecret")]
    (user,) = [each for each in clients if not each.get("GenerateSecret")]

    assert service["AllowedOAuthFlows"] == ["client_credentials"]
    assert "any-user" in json.dumps(service["AllowedOAuthScopes"])
    assert user["AllowedOAuthFlowsUserPoolClient"] is False
    assert "AllowedOAuthScopes" not in user
    assert sorted(user["ExplicitAuthFlows"]) == ["ALLOW_REFRESH_TOKEN_AUTH", "ALLOW_USER_SRP_AUTH"]


def test_the_user_pool_wants_strong_passwords_and_lets_nobody_sign_up(
    synthesise: Callable[[str], Synthesised],
) -> None:
    pool = synthesise("cognito").one("Cognito::UserPool")

    policy = pool["Policies"]["PasswordPolicy"]
    assert policy["MinimumLength"] >= 12
    assert all(policy[f"Require{kind}"] for kind in ("Lowercase", "Uppercase", "Numbers", "Symbols"))
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    assert pool["DeletionProtection"] == "ACTIVE"


def test_the_api_is_throttled(every: Synthesised) -> None:
    settings = every.one("ApiGatewayV2::Stage")["DefaultRouteSettings"]

    assert settings["ThrottlingRateLimit"] > 0
    assert settings["ThrottlingBurstLimit"] > 0


def test_the_rates_of_the_context_reach_the_stage(synthesise: Callable[[str], Synthesised]) -> None:
    settings = synthesise("prod").one("ApiGatewayV2::Stage")["DefaultRouteSettings"]

    assert settings == {"ThrottlingRateLimit": 7, "ThrottlingBurstLimit": 9}


def test_the_access_log_is_json_without_paths_and_query_strings(every: Synthesised) -> None:
    access_log = every.one("ApiGatewayV2::Stage")["AccessLogSettings"]

    fields = json.loads(access_log["Format"]).values()
    assert "$context.requestId" in fields
    assert not [field for field in fields if "path" in field.lower() or "query" in field.lower()]
    assert "Logs" in json.dumps(access_log["DestinationArn"])


def test_the_function_gets_payloads_of_format_2(every: Synthesised) -> None:
    assert every.one("ApiGatewayV2::Integration")["PayloadFormatVersion"] == "2.0"


def test_browsers_of_other_origins_get_no_leave(every: Synthesised) -> None:
    assert "CorsConfiguration" not in every.one("ApiGatewayV2::Api")
