"""Puts the command into a wheel: compiled by Go for AMUDAI_TARGET, such as linux/arm64, or for this machine."""

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


class CommandHook(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # the command comes from AMUDAI_PROGRAM or PATH
        repository = Path(self.root).parent
        target = os.environ.get("AMUDAI_TARGET") or self._host(repository)
        if target not in TAGS:
            raise ValueError(f"AMUDAI_TARGET={target}: use one of {', '.join(TAGS)}")
        system, machine = target.split("/")
        folder = Path(self.root) / "src" / "amudai" / "bin"
        program = folder / ("amudai.exe" if system == "windows" else "amudai")
        self.clean([])
        folder.mkdir()
        subprocess.run(
            ["go", "build", "-trimpath", "-tags=grpcnotrace", "-ldflags=-s -w -buildid=", "-o", program, "./cmd/amudai"],
            cwd=repository,
            env={**os.environ, "CGO_ENABLED": "0", "GOOS": system, "GOARCH": machine},
            check=True,
        )
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[target]}"

    def clean(self, versions: list[str]) -> None:
        folder = Path(self.root) / "src" / "amudai" / "bin"
        if folder.is_dir():
            for program in folder.iterdir():
                program.unlink()
            folder.rmdir()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.clean([])

    @staticmethod
    def _host(repository: Path) -> str:
        out = subprocess.run(
            ["go", "env", "GOOS", "GOARCH"], cwd=repository, check=True, capture_output=True, text=True
        ).stdout.split()
        return "/".join(out)
