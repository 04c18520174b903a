"""mallard used from outside its tree: each way in finds it, builds and runs; a wrong wish fails."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.heaps

SOURCE = Path(__file__).parents[2]
VERSION = ".".join(
    re.findall(r"_VERSION_\w+ (\d+)", (SOURCE / "include/mallard/core/version.hpp").read_text())
)
GREETING = f"mallard {VERSION} holds 3 numbers\n"
IN_C = SOURCE / "examples/11_heap_in_c.c"
SAID_IN_C = IN_C.read_text().split("\n// It prints:\n")[1].replace("//     ", "")
LIBRARIES_FOR_C = {"c": True, "c_static": False}  # and whether a program needs libmallard.so to run


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


def succeed(*command: str | Path, **environment: str) -> str:
    result = run(*command, **environment)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the library is installed: headers, what is linked in C, and all that helps to find them."""
    build, prefix = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("prefix")
    succeed("cmake", "-S", SOURCE, "-B", build, "-GNinja", "-DMALLARD_TOOLS=OFF", "-DMALLARD_TESTS=OFF")
    succeed("cmake", "--build", build)
    succeed("cmake", "--install", build, "--prefix", prefix)
    return prefix


@pytest.fixture
def consumers(tmp_path: Path) -> Path:
    """The consumer projects, copied out of the tree."""
    return Path(shutil.copytree(SOURCE / "tests/install", tmp_path / "consumers"))


def configure(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run("cmake", "-S", project, "-B", project / "build", "-GNinja", *options)


def built_by_cmake(project: Path) -> Path:
    succeed("cmake", "--build", project / "build")
    return project / "build/consumer"


def test_find_package(prefix: Path, consumers: Path) -> None:
    project = consumers / "in_cmake"
    configured = configure(project, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DWANTED_VERSION={VERSION}")
    assert configured.returncode == 0, configured.stderr
    assert succeed(built_by_cmake(project)) == GREETING


def test_find_package_refuses_another_version(prefix: Path, consumers: Path) -> None:
    configured = configure(consumers / "in_cmake", f"-DCMAKE_PREFIX_PATH={prefix}", "-DWANTED_VERSION=99")
    assert configured.returncode != 0
    assert f"version: {VERSION}" in configured.stderr


def test_add_subdirectory(consumers: Path) -> None:
    project = consumers / "in_cmake"
    configured = configure(project, f"-DMALLARD_SOURCE={SOURCE}")
    assert configured.returncode == 0, configured.stderr
    assert succeed(built_by_cmake(project)) == GREETING
    assert not list(project.rglob("*.so")), "a consumer builds none of the tools"


def by_pkg_config(prefix: Path, *asked: str) -> list[str]:
    """Return the words that pkg-config answers with."""
    return succeed("pkg-config", *asked, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")).split()


def test_pkg_config(prefix: Path, consumers: Path) -> None:
    program = consumers / "consumer"
    flags = by_pkg_config(prefix, "--cflags", f"mallard >= {VERSION}")
    succeed("c++", "-std=c++20", *flags, consumers / "consumer.cpp", "-o", program)
    assert succeed(program) == GREETING


def test_pkg_config_refuses_another_version(prefix: Path) -> None:
    search = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    assert run("pkg-config", "--cflags", "mallard >= 99", **search).returncode != 0


def needs_the_library(program: Path) -> bool:
    """Whether a program loads libmallard.so, of the version that it was linked with."""
    return "[libmallard.so.0]" in succeed("readelf", "--dynamic", program)


@pytest.mark.parametrize(("library", "is_shared"), LIBRARIES_FOR_C.items())
def test_find_package_in_c(prefix: Path, consumers: Path, library: str, is_shared: bool) -> None:
    project = consumers / "in_cmake"
    wanted = [f"-DPROGRAM={IN_C}", f"-DWANTED_LIBRARY={library}", f"-DWANTED_VERSION={VERSION}"]
    configured = configure(project, f"-DCMAKE_PREFIX_PATH={prefix}", *wanted)
    assert configured.returncode == 0, configured.stderr
    program = built_by_cmake(project)
    assert needs_the_library(program) == is_shared
    assert succeed(program) == SAID_IN_C


def test_find_package_says_that_the_library_for_c_is_missing(consumers: Path, tmp_path: Path) -> None:
    """Headers alone may be installed."""
    build, headers = tmp_path / "build", tmp_path / "headers"
    off = [f"-DMALLARD_{part}=OFF" for part in ("TOOLS", "TESTS", "CAPI")]
    succeed("cmake", "-S", SOURCE, "-B", build, "-GNinja", *off)
    succeed("cmake", "--install", build, "--prefix", headers)
    configured = configure(consumers / "in_cmake", f"-DPROGRAM={IN_C}", f"-DCMAKE_PREFIX_PATH={headers}")
    assert configured.returncode != 0
    assert "MALLARD_CAPI" in configured.stderr


@pytest.mark.parametrize("static", [False, True])
def test_pkg_config_in_c(prefix: Path, tmp_path: Path, static: bool) -> None:
    """With --static the library is inside the program, with what it needs."""
    program, wanted = tmp_path / "consumer_in_c", f"mallard-c >= {VERSION}"
    libraries = by_pkg_config(prefix, *(["--static"] if static else []), "--libs", wanted)
    if static:
        libraries = ["-Wl,-Bstatic", *libraries, "-Wl,-Bdynamic"]
    flags = by_pkg_config(prefix, "--cflags", wanted)
    succeed("cc", "-std=c11", *flags, IN_C, "-o", program, *libraries)
    assert needs_the_library(program) == (not static)
    assert succeed(program, LD_LIBRARY_PATH=str(prefix / "lib")) == SAID_IN_C


def test_installed_headers_are_the_librarys(prefix: Path) -> None:
    installed = {p.relative_to(prefix / "include") for p in (prefix / "include").rglob("*.h*")}
    assert installed == {p.relative_to(SOURCE / "include") for p in (SOURCE / "include").rglob("*.h*")}
