"""Is finding and asking a host cheap?"""

import subprocess
import sys

PROBE = """
import sys
from pathlib import Path
from runwright.engine.client import Client, find_host
assert find_host(Path("/no/such/home")) is None
print([name for name in ("asyncio", "sqlalchemy", "sqlite3", "cattrs", "psutil") if name in sys.modules])
"""


def test_the_blocking_client_imports_nothing_heavy() -> None:
    """Neither asyncio nor SQLAlchemy is imported by looking for a host, or by a blocking client."""
    found = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
