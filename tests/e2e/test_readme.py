"""The README's agent works when it is copied out of the README."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Service

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_first_agent_of_the_readme_runs_and_gets_its_memory_back(service: Service) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    environment = {**os.environ, "API": service.api_url, "TOKEN": service.any_user_token, "NO_PROXY": "127.0.0.1"}

    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)

    assert "Alice is allergic to peanuts" in run.stdout
    assert run.stdout.rstrip().endswith("What should we cook for Alice?")
