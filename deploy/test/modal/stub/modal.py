"""Replaces the package `modal` in the tests of deploy.py: records its declarations and changes nothing.

Names and keyword parameters are those of modal 1.5.4 (2026-08-12, py/modal of the client's repository), so an unknown keyword is a
TypeError here too. Parts that deploy.py does not use are missing. `declared` has all calls in order.
"""

from __future__ import annotations

__version__ = "1.5.4"
declared: list[tuple[str, dict]] = []


class InvalidError(Exception):
    """Raised by the real package for combinations that it refuses."""


def _declare(name: str, given: dict) -> None:
    declared.append((name, {key: value for key, value in given.items() if key not in ("self", "cls")}))


class Secret:
    def __init__(self, values: dict[str, str]) -> None:
        self.values = values

    @staticmethod
    def from_dict(env_dict: dict[str, str | None] = {}) -> Secret:
        return Secret({name: value for name, value in env_dict.items() if value is not None})


class Volume:
    def __init__(self, name: str, is_read_only: bool) -> None:
        self.name = name
        self.is_read_only = is_read_only

    @staticmethod
    def from_name(
        name, *, environment_name=None, create_if_missing=False, version=None, create_options=None, client=None
    ) -> Volume:
        _declare("Volume.from_name", locals())
        return Volume(name, is_read_only=False)

    def with_mount_options(self, *, read_only=None, sub_path=None) -> Volume:
        return Volume(self.name, is_read_only=read_only is True)


class FilePatternMatcher:
    def __init__(self, *pattern: str) -> None:
        self.file = None

    @classmethod
    def from_file(cls, file_path) -> FilePatternMatcher:
        matcher = cls()
        matcher.file = str(file_path)
        return matcher


class Image:
    @staticmethod
    def from_registry(
        tag, secret=None, *, setup_dockerfile_commands=[], force_build=False, add_python=None, **kwargs
    ) -> Image:
        _declare("Image.from_registry", locals())
        return Image()

    def entrypoint(self, entrypoint_commands) -> Image:
        _declare("Image.entrypoint", locals())
        return Image()

    def dockerfile_commands(
        self, *dockerfile_commands, context_files={}, env=None, secrets=None, gpu=None, context_dir=None, force_build=False,
        ignore=None, build_args={},
    ) -> Image:  # fmt: skip
        _declare("Image.dockerfile_commands", locals())
        return Image()

    def add_local_file(self, local_path, remote_path, *, copy=False) -> Image:
        _declare("Image.add_local_file", locals())
        return Image()

    def add_local_dir(self, local_path, remote_path, *, copy=False, ignore=[]) -> Image:
        _declare("Image.add_local_dir", locals())
        return Image()

    def run_commands(self, *commands, env=None, secrets=None, volumes=None, gpu=None, force_build=False) -> Image:
        _declare("Image.run_commands", locals())
        return Image()

    def run_function(
        self, raw_f, *, env=None, secrets=None, volumes={}, network_file_systems={}, gpu=None, cpu=None, memory=None,
        timeout=3600, cloud=None, region=None, force_build=False, args=(), kwargs={}, include_source=True,
    ) -> Image:  # fmt: skip
        _declare("Image.run_function", locals())
        return Image()

    def env(self, vars) -> Image:
        _declare("Image.env", locals())
        return Image()


class _Partial:
    """A function with some of the decorators below; `app.function` and `app.server` read the marks that these leave."""

    def __init__(self, call, marks: dict) -> None:
        self.call = call.call if isinstance(call, _Partial) else call
        self.marks = {**(call.marks if isinstance(call, _Partial) else {}), **marks}

    def __get__(self, instance, _owner):
        return self if instance is None else self.call.__get__(instance)


def _mark(name: str, given: dict):
    return lambda call: _Partial(call, {name: given})


def enter(_warn_parentheses_missing=None, *, snap=False):
    return _mark("enter", {"snap": snap})


def exit(_warn_parentheses_missing=None):
    return _mark("exit", {})


def concurrent(_warn_parentheses_missing=None, *, max_inputs=None, target_inputs=None):
    if max_inputs is not None and target_inputs is not None and target_inputs > max_inputs:
        raise InvalidError("`target_inputs` parameter cannot be greater than `max_inputs`.")
    return _mark("concurrent", {"max_inputs": max_inputs, "target_inputs": target_inputs})


def web_server(port, *, startup_timeout=5.0, label=None, custom_domains=None, requires_proxy_auth=False):
    return _mark(
        "web_server", {"port": port, "startup_timeout": startup_timeout, "requires_proxy_auth": requires_proxy_auth}
    )


class App:
    def __init__(self, name=None, *, tags=None, image=None, secrets=[], volumes={}, include_source=True) -> None:
        _declare("App", locals())

    def function(
        self, _warn_parentheses_missing=None, *, image=None, schedule=None, env=None, secrets=None, gpu=None, serialized=False,
        network_file_systems={}, volumes={}, cpu=None, memory=None, ephemeral_disk=None, min_containers=None,
        max_containers=None, buffer_containers=None, scaledown_window=None, proxy=None, retries=None, timeout=300,
        startup_timeout=None, name=None, is_generator=None, cloud=None, region=None, routing_region=None,
        nonpreemptible=False, enable_memory_snapshot=False, block_network=False, restrict_modal_access=False,
        single_use_containers=False, i6pn=None, include_source=None, experimental_options=None,
    ):  # fmt: skip
        given = {key: value for key, value in locals().items() if key != "self"}

        def register(function):
            _declare("App.function", {**given, **function.marks})
            return function

        return register

    def server(
        self, _warn_parentheses_missing=None, *, image=None, env=None, secrets=None, gpu=None, serialized=False, volumes={},
        cpu=None, memory=None, ephemeral_disk=None, target_concurrency=None, min_containers=None, max_containers=None,
        buffer_containers=None, scaleup_window=None, scaledown_window=None, startup_timeout=30, name=None, port=8000,
        unauthenticated=False, h2_enabled=False, exit_grace_period=0, routing_region="us-east", compute_region=None,
        cloud=None, nonpreemptible=False, proxy=None, i6pn=None, enable_memory_snapshot=False, include_source=None,
        experimental_options=None,
    ):  # fmt: skip
        given = {key: value for key, value in locals().items() if key != "self"}
        if not 0 <= exit_grace_period <= 3600:
            raise InvalidError("The `exit_grace_period` argument must not exceed 3600 seconds (1 hour).")

        def register(user_cls):
            starts = [part for part in vars(user_cls).values() if isinstance(part, _Partial) and "enter" in part.marks]
            if not starts:
                raise InvalidError("Server class must have an @modal.enter() to setup the server.")
            if any(part.marks["enter"]["snap"] for part in starts) and not enable_memory_snapshot:
                raise InvalidError("Server must have `enable_memory_snapshot=True` to use `snap=True`.")
            _declare("App.server", {**given, "enter": starts[0].marks["enter"]})
            return user_cls

        return register
