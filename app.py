"""The CDK app: settings from the context, one stack, and cdk-nag over it. Needs no account and no network.

Findings of cdk-nag land in the cloud assembly; the CDK CLI reads them and fails.
"""

import sys

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.bundling import BundlingFailed
from infra.pins import UnusablePins
from infra.settings import InvalidSettings, StackSettings
from infra.stack import RecollectStack


def compose(app: App) -> RecollectStack:
    """Put the stack that the context asks for into the app, and cdk-nag over it."""
    stack = RecollectStack(app, settings=StackSettings.from_context(app.node.get_all_context()))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return stack


def main() -> None:
    """Make the cloud assembly, or end with one line that says what is wrong."""
    app = App()
    try:
        compose(app)
    except (InvalidSettings, BundlingFailed, UnusablePins) as error:
        sys.exit(f"recollect: {error}")
    app.synth()


if __name__ == "__main__":
    main()
