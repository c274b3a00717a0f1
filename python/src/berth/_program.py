"""Finds and runs the program berth."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Dict, Optional, Sequence


class BerthError(Exception):
    """An error that berth told, in its own words."""


def program() -> str:
    """Returns the path of the program: what BERTH names, or else berth on PATH, or the one that came with a wheel."""
    named = os.environ.get("BERTH")
    found = shutil.which(named or "berth") or not named and shutil.which("berth", path=_scripts())
    if found:
        return found
    if named:
        raise BerthError(f"BERTH names {named}, which is no program; name the path of berth, or unset BERTH to use the one on PATH")
    raise BerthError("there is no program berth on PATH; install it, or name its path in the variable BERTH")


def _scripts() -> str:
    """Returns the folders in which the program of a wheel may be, also where they are not on PATH."""
    return os.pathsep.join((sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user")))


def run(args: Sequence[str], stdin: Optional[str] = None, cwd: Optional[str] = None, env: Optional[Dict[str, str]] = None) -> str:
    """Runs a command of berth, and returns what it printed. Raises BerthError with its message if it fails."""
    done = subprocess.run([program(), *args], input=stdin, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True,
                          stdin=None if stdin is not None else subprocess.DEVNULL)
    if done.returncode != 0:
        said = done.stderr.strip() or f"berth {args[0]} ended with status {done.returncode}"
        raise BerthError(said[len("berth: "):] if said.startswith("berth: ") else said)
    return done.stdout


def state_folder() -> Path:
    """Returns the state folder of berth."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "berth"
