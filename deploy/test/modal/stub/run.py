"""Runs deploy.py with the stub beside this file, and does in this process what Modal would do.

    run.py DEPLOY declare            prints its declarations as JSON
    run.py DEPLOY pull               calls the function that the image build runs
    run.py DEPLOY serve HOST BODY    starts a container's server, sends BODY to it with this Host, stops it, prints the responses
"""

import http.client
import importlib.util
import json
import sys

import modal


def shown(value):
    """Values that JSON does not support: the stub's objects by their fields, functions by their names."""
    if isinstance(value, (modal.Secret, modal.Volume, modal.FilePatternMatcher)):
        return vars(value)
    return getattr(value, "__name__", None) or (str(value) if not isinstance(value, modal.Image) else "image")


def ask(port: int, host: str, method: str, path: str, body: str | None) -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Host": host, "Content-Type": "application/json"})
    response = connection.getresponse()
    return {"status": response.status, "body": json.loads(response.read())}


def main(script: str, what: str, *rest: str) -> None:
    spec = importlib.util.spec_from_file_location("deploy", script)
    deploy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(deploy)
    calls = dict(modal.declared)
    if what == "declare":
        print(json.dumps(modal.declared, default=shown))
    elif what == "pull":
        build = calls["Image.run_function"]
        build["raw_f"](*build["args"], **build["kwargs"])
    elif what == "serve":
        host, body = rest
        container = deploy.Server() if deploy.FORM == "server" else None
        server = deploy.serve.call() if container is None else container.start()
        responses = [
            ask(deploy.PORT, host, "POST", "/v1/chat/completions", body),
            ask(deploy.PORT, host, "GET", "/v1/models", None),
        ]
        if container is not None:
            container.stop()
            responses.append({"status": container.server.returncode, "body": {}})
        print(json.dumps(responses))


main(*sys.argv[1:])
