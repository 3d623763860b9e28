"""Reads deploy.py with the stub beside this file, and does with it what Modal would, in this process.

    run.py DEPLOY declare            prints what it declares, as JSON
    run.py DEPLOY pull               calls the function of the image build
    run.py DEPLOY serve HOST BODY    starts a container's server, sends BODY to it under the name HOST, stops it, prints the answers
"""

import http.client
import importlib.util
import json
import sys

import modal


def shown(value):
    """What JSON does not know: our stub's objects by their fields, functions by their names."""
    if isinstance(value, (modal.Secret, modal.Volume, modal.FilePatternMatcher)):
        return vars(value)
    return getattr(value, "__name__", None) or (str(value) if not isinstance(value, modal.Image) else "image")


def ask(port: int, host: str, method: str, path: str, body: str | None) -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Host": host, "Content-Type": "application/json"})
    answer = connection.getresponse()
    return {"status": answer.status, "body": json.loads(answer.read())}


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
        answers = [
            ask(deploy.PORT, host, "POST", "/v1/chat/completions", body),
            ask(deploy.PORT, host, "GET", "/v1/models", None),
        ]
        if container is not None:
            container.stop()
            answers.append({"status": container.server.returncode, "body": {}})
        print(json.dumps(answers))


main(*sys.argv[1:])
