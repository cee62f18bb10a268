"""Who vouches for callers: a user pool made here, an issuer that exists already, or IAM.

Whoever it is, the function sees a checked identity and nothing else; what a caller may do with it
is decided in the core. Only service clients can get the scope ``recollect/any-user``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Acknowledgment, Aws, Duration, Fn, RemovalPolicy, Stack, Validations
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.settings import StackSettings

# Scope `recollect/any-user`: the core asks for exactly this name.
_RESOURCE_SERVER = "recollect"
_SCOPE = "any-user"


@dataclass(frozen=True, slots=True)
class Authorizer:
    """What guards routes, and what a client must know to get past it (names and values of stack outputs)."""

    guard: apigateway.IHttpRouteAuthorizer
    outputs: Mapping[str, str]


def make_authorizer(scope: Construct, settings: StackSettings) -> Authorizer:
    """Make the authorizer that the settings ask for."""
    if settings.authorizer == "iam":
        return Authorizer(authorizers.HttpIamAuthorizer(), {})
    if settings.authorizer == "jwt":
        guard = authorizers.HttpJwtAuthorizer(
            "Jwt", settings.jwt_issuer, jwt_audience=settings.jwt_audiences, authorizer_name="jwt"
        )
        return Authorizer(guard, {"Issuer": settings.jwt_issuer, "Audience": ",".join(settings.jwt_audiences)})
    identity = UserPool(scope, "Identity", stage=settings.stage, emulated=settings.emulated)
    return Authorizer(identity.guard, identity.outputs)


class UserPool(Construct):
    """A user pool with a client for end users and one for agents' back ends.

    Parameters
    ----------
    stage : str
        Part of the token endpoint's host name.
    emulated : bool
        Make the pool disposable; otherwise it is retained and protected against deletion.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: str, emulated: bool) -> None:
        super().__init__(scope, construct_id)
        self._pool = self._make_pool(emulated=emulated)
        self._user_client = self._make_user_client()
        self._service_client = self._make_service_client()
        # All accounts of a region share the names of token endpoints: the stack's id makes ours unique.
        unique = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Stack.of(self).stack_id))))
        self._domain = self._pool.add_domain(
            "Domain",
            cognito_domain=cognito.CognitoDomainOptions(domain_prefix=Fn.join("-", ["recollect", stage, unique])),
        )

    @property
    def guard(self) -> apigateway.IHttpRouteAuthorizer:
        """Access and ID tokens of the pool's two clients."""
        return authorizers.HttpUserPoolAuthorizer(
            "Cognito",
            self._pool,
            user_pool_clients=[self._user_client, self._service_client],
            authorizer_name="cognito",
        )

    @property
    def outputs(self) -> dict[str, str]:
        """What clients need; the service client's secret is read from Cognito, never printed."""
        return {
            "Issuer": f"https://cognito-idp.{Aws.REGION}.amazonaws.com/{self._pool.user_pool_id}",
            "UserPoolId": self._pool.user_pool_id,
            "UserClientId": self._user_client.user_pool_client_id,
            "ServiceClientId": self._service_client.user_pool_client_id,
            "TokenUrl": f"https://{self._domain.domain_name}.auth.{Aws.REGION}.amazoncognito.com/oauth2/token",
        }

    def _make_pool(self, *, emulated: bool) -> cognito.UserPool:
        pool = cognito.UserPool(
            self,
            "UserPool",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_lowercase=True,
                require_uppercase=True,
                require_digits=True,
                require_symbols=True,
                temp_password_validity=Duration.days(3),
            ),
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            feature_plan=cognito.FeaturePlan.LITE,
            deletion_protection=not emulated,
            removal_policy=RemovalPolicy.DESTROY if emulated else RemovalPolicy.RETAIN,
        )
        Validations.of(pool).acknowledge(
            Acknowledgment(
                id="AwsSolutions-COG2",
                reason="A second factor (TOTP) is offered; the owner of the users may demand it.",
            ),
            Acknowledgment(
                id="AwsSolutions-COG8",
                reason="Threat protection needs the Plus plan, paid by user; the account's owner may add it.",
            ),
        )
        return pool

    def _make_user_client(self) -> cognito.UserPoolClient:
        """Make a public client: no secret, passwords proven by SRP, no scope of ours."""
        return self._pool.add_client(
            "UserClient",
            auth_flows=cognito.AuthFlow(user_srp=True),
            disable_o_auth=True,
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=Duration.hours(1),
            id_token_validity=Duration.hours(1),
            refresh_token_validity=Duration.days(30),
        )

    def _make_service_client(self) -> cognito.UserPoolClient:
        any_user = cognito.ResourceServerScope(
            scope_name=_SCOPE, scope_description="Act for any user of this deployment"
        )
        server = self._pool.add_resource_server("Scopes", identifier=_RESOURCE_SERVER, scopes=[any_user])
        return self._pool.add_client(
            "ServiceClient",
            generate_secret=True,
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(client_credentials=True),
                scopes=[cognito.OAuthScope.resource_server(server, any_user)],
            ),
            access_token_validity=Duration.hours(1),
        )
