"""Puts the local cloud together: emulator, issuer, and the app deployed by the CDK when something changed.

It decides only whether a deploy is needed. The same class serves ``make run`` and the end-to-end tests.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from infra.local import tokens
from infra.local.cdk import Cdk
from infra.local.emulator import ACCOUNT, REGION, ROOT, Emulator
from infra.local.errors import LocalCloudError
from infra.local.fingerprint import fingerprint
from infra.local.issuer import Issuer

API_ID = "recollect"
STAGE = "local"
STACK = f"Recollect-{STAGE}"

_DEPLOYED_FILE = "deployed.json"
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_HEALTH_S = 60  # the first request starts the function


class LocalCloud:
    """The service on this machine.

    Parameters
    ----------
    data_dir : Path
        Where everything that outlives a run is kept.
    port : int
        On loopback.
    enforce_auth : bool
        Check signatures and IAM policies, as AWS does.
    say : callable
        Gets one line per step.
    on_log : callable
        Gets each line that a function logs, from a thread.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int,
        *,
        enforce_auth: bool = False,
        say: Callable[[str], None] = lambda line: None,
        on_log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.data_dir = data_dir.resolve()
        self.issuer = Issuer.at(self.data_dir, port)
        documents = self.issuer.documents()
        self.emulator = Emulator(self.data_dir, port, enforce_auth=enforce_auth, documents=documents, on_log=on_log)
        self._say = say

    @property
    def api_url(self) -> str:
        """Address of the deployed API, without a slash at its end."""
        return api_url(self.emulator.url)

    def start(self) -> None:
        """Start the emulator and deploy what changed since the last deploy.

        Raises
        ------
        LocalCloudError
            If something is missing, in use or does not come up.
        """
        self.emulator.start()
        try:
            self._deploy_if_changed()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Save and end everything."""
        self.emulator.stop()

    def _deploy_if_changed(self) -> None:
        context = {
            "emulated": "true",
            "stage": STAGE,
            "authorizer": "jwt",
            "jwt_issuer": self.issuer.url,
            "jwt_audience": tokens.AUDIENCE,
            "maintenance_minutes": "1",
        }
        current = fingerprint(ROOT, context)
        if self._deployed_fingerprint() == current and self._health() == 200:
            self._say("nothing changed since the last deploy")
            return
        self._remember_deployed("")
        cdk = Cdk(self.emulator.url, self.data_dir)
        if not self._is_bootstrapped():
            self._say("bootstrapping the emulated account")
            cdk.bootstrap()
        self._say("deploying the CDK app (the first time builds the layers: a minute or two)")
        cdk.deploy(STACK, context, tags={"ms-custom-id": API_ID})
        status = self._health()
        if status != 200:
            raise LocalCloudError(
                f"deployed, but GET /health answers {status or 'nothing'}: see {self.emulator.log_file}"
            )
        self._remember_deployed(current)

    @property
    def _deployed_file(self) -> Path:
        return self.data_dir / _DEPLOYED_FILE

    def _deployed_fingerprint(self) -> str | None:
        if not self._deployed_file.exists():
            return None
        return str(json.loads(self._deployed_file.read_text())["fingerprint"])

    def _remember_deployed(self, current: str) -> None:
        self._deployed_file.write_text(json.dumps({"fingerprint": current, "port": self.emulator.port}))

    def _health(self) -> int | None:
        return _status(f"{self.api_url}/health", _HEALTH_S)

    def _is_bootstrapped(self) -> bool:
        # Unsigned: 200 or 403 when the asset bucket is there, 404 when not.
        bucket = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
        return _status(f"{self.emulator.url}/{bucket}", 10) in {200, 403}


def api_url(emulator_url: str) -> str:
    """Give the address of the API that is deployed into an emulator, without a slash at its end."""
    return f"{emulator_url}/_aws/execute-api/{API_ID}"


def last_port(data_dir: Path) -> int | None:
    """Tell the port of the last run on a data directory.

    Parameters
    ----------
    data_dir : Path

    Returns
    -------
    int or None
        None when nothing was deployed there.
    """
    path = data_dir / _DEPLOYED_FILE
    return int(json.loads(path.read_text())["port"]) if path.exists() else None


def _status(url: str, timeout_s: float) -> int | None:
    try:
        with _NO_PROXY.open(url, timeout=timeout_s) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None
