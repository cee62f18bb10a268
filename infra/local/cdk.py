"""Runs the CDK CLI against the emulator: bootstrap once, deploy.

It decides nothing about the app. The CLI gets test credentials and a loopback endpoint, whatever the
caller's environment says, so that it cannot reach a real account.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.local.emulator import ACCOUNT, REGION, ROOT, TEST_CREDENTIALS
from infra.local.errors import LocalCloudError

CLI = ROOT / "build" / "node" / "node_modules" / "aws-cdk" / "bin" / "cdk"
_TAIL_LINES = 15


class Cdk:
    """The CDK CLI, aimed at one emulator.

    Parameters
    ----------
    endpoint : str
        The emulator's address.
    work_dir : Path
        For its cache, its output and its logs.
    """

    def __init__(self, endpoint: str, work_dir: Path) -> None:
        self._endpoint = endpoint
        self._work_dir = work_dir

    def bootstrap(self) -> None:
        """Create the CDK's own stack (asset bucket, roles).

        Raises
        ------
        LocalCloudError
            If the CLI fails.

        Notes
        -----
        The template's policy that allows TLS only is left out: the emulator speaks plain HTTP on loopback.
        """
        # In a folder without cdk.json the CLI does not synthesise the app first.
        empty = self._work_dir / "bootstrap"
        empty.mkdir(parents=True, exist_ok=True)
        template = empty / "template.yaml"
        template.write_text(without_resource(self._run(["bootstrap", "--show-template"], empty), "StagingBucketPolicy"))
        self._run(["bootstrap", f"aws://{ACCOUNT}/{REGION}", "--template", str(template)], empty)

    def deploy(self, stack: str, context: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Synthesise the app and deploy one stack of it.

        Parameters
        ----------
        stack : str
            Its name.
        context : mapping
            CDK context, as ``-c`` would pass it.
        tags : mapping
            Stack tags.

        Raises
        ------
        LocalCloudError
            If the app does not synthesise or the stack does not deploy.
        """
        app = shlex.join([sys.executable, "app.py"])
        arguments = ["deploy", stack, "--app", app, "--output", str(self._work_dir / "cdk.out")]
        arguments += ["--require-approval", "never", "--method", "direct", "--exclusively"]
        for name, value in context.items():
            arguments += ["-c", f"{name}={value}"]
        for name, value in tags.items():
            arguments += ["--tags", f"{name}={value}"]
        self._run(arguments, ROOT)

    def _run(self, arguments: Sequence[str], cwd: Path) -> str:
        node = shutil.which("node", path=self._environment()["PATH"])
        if node is None or not CLI.exists():
            missing = "the CDK CLI" if node else "Node.js"
            raise LocalCloudError(f"{missing} is missing: `make run` installs it")
        log = self._work_dir / "cdk.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                [node, str(CLI), *arguments],
                cwd=cwd,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
            try:
                output, _ = process.communicate()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            said = (log.read_text() + output).rstrip().splitlines()[-_TAIL_LINES:]
            text = "\n".join(f"  {line}" for line in said)
            raise LocalCloudError(f"`cdk {arguments[0]}` failed (whole output in {log}):\n{text}")
        return output

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        no_proxy = ",".join(filter(None, ["127.0.0.1,localhost", inherited.get("NO_PROXY"), inherited.get("no_proxy")]))
        venv_bin = str(Path(sys.executable).parent)
        return {
            **inherited,
            **TEST_CREDENTIALS,
            "PATH": os.pathsep.join([venv_bin, inherited.get("PATH", os.defpath)]),
            "AWS_ENDPOINT_URL": self._endpoint,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": no_proxy,
            "no_proxy": no_proxy,
            "CDK_HOME": str(self._work_dir / "cdkhome"),  # or its cache of accounts mixes up emulators
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_DISABLE_VERSION_CHECK": "true",
            "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        }


def without_resource(template: str, name: str) -> str:
    """Drop one resource from a CloudFormation template in YAML.

    Parameters
    ----------
    template : str
        With resources indented by two blanks, as the CDK CLI prints it.
    name : str
        Logical id; nothing else may refer to it.

    Returns
    -------
    str
        The template without it.
    """
    return re.sub(rf"^  {re.escape(name)}:\n(?:    .*\n|\n)*", "", template, flags=re.MULTILINE)
