"""Python scripts in processes of their own."""

import subprocess
import sys


def command(script, *arguments):
    """Return the command line that runs a script in this Python."""
    return [sys.executable, "-c", script, *map(str, arguments)]


def run(script, *arguments, **options):
    """Run a script to its end, a hang being an error; return its exit code and what it wrote."""
    options = {"capture_output": True, "text": True, "timeout": 60, **options}
    return subprocess.run(command(script, *arguments), check=False, **options)
