"""Deploys one model on Modal: `ingle serve --variant serverless` with CUDA, its weights on a Volume.

    MODEL_NAME=LiquidAI/LFM2-1.2B modal deploy deploy.py

Settings are environment variables, read where you deploy: docs/deployment.md lists them. Written for modal 1.5.4.
"""
import http.client, os, shlex, subprocess, time
from pathlib import Path

import modal

used: dict[str, str] = {}  # a container runs this file again, and needs the same settings


def setting(name: str, default: object) -> str:
    used[name] = os.environ.get(name) or str(default)
    return used[name]


MODEL = setting("MODEL_NAME", "LiquidAI/LFM2-8B-A1B")
NAME = setting("INGLE_MODAL_NAME", "ingle")
FORM = setting("INGLE_MODAL_FORM", "server")
GPU = setting("INGLE_MODAL_GPU", "L40S")
REGION = setting("INGLE_MODAL_REGION", "us-east")
PORT = int(setting("INGLE_MODAL_PORT", 8000))
TARGET = int(setting("INGLE_MODAL_TARGET_CONCURRENCY", 8))
MOST = int(setting("INGLE_MODAL_MAX_CONCURRENCY", 32))
STARTUP = int(setting("INGLE_MODAL_STARTUP_TIMEOUT", 600))
SCALING = {
    "min_containers": int(setting("INGLE_MODAL_MIN_CONTAINERS", 0)) or None,
    "max_containers": int(setting("INGLE_MODAL_MAX_CONTAINERS", 0)) or None,
    "buffer_containers": int(setting("INGLE_MODAL_BUFFER_CONTAINERS", 0)) or None,
    "scaledown_window": int(setting("INGLE_MODAL_SCALEDOWN_WINDOW", 300)),
    "startup_timeout": STARTUP,
}
IS_PUBLIC = setting("INGLE_MODAL_PUBLIC", 0) == "1"
IS_SNAPSHOT = setting("INGLE_MODAL_SNAPSHOT", 0) == "1"
FLAGS = shlex.split(setting("INGLE_MODAL_SERVE_FLAGS", ""))
IMAGE = setting("INGLE_MODAL_IMAGE", "")
SOURCE = Path(os.environ.get("INGLE_MODAL_SOURCE") or Path(__file__).resolve().parent.parent.parent)
if FORM not in ("server", "web_server") or (IS_SNAPSHOT and FORM != "server"):
    raise ValueError("INGLE_MODAL_FORM must be server or web_server, and INGLE_MODAL_SNAPSHOT=1 needs server.")

if IMAGE:
    image = modal.Image.from_registry(IMAGE, add_python="3.12").dockerfile_commands("USER root").entrypoint([])
else:
    ignored = modal.FilePatternMatcher.from_file(SOURCE / "deploy/docker/Dockerfile.dockerignore")
    image = (
        modal.Image.from_registry("nvidia/cuda:12.9.1-devel-ubuntu24.04", add_python="3.12")
        .entrypoint([])
        .dockerfile_commands("COPY --from=node:22-bookworm-slim /usr/local/ /usr/local/")
        .add_local_file(SOURCE / "deploy/docker/image.sh", "/tmp/image.sh", copy=True)
        .run_commands("sh /tmp/image.sh tools")
        .add_local_dir(SOURCE, "/src", copy=True, ignore=ignored)
        .run_commands("cd /src && sh /tmp/image.sh build", env={"INGLE_GPU": "cuda"})
        .run_commands("cd /src && sh /tmp/image.sh assemble /opt/ingle", "sh /tmp/image.sh finish /opt/ingle")
    )


def pull(model: str) -> None:
    subprocess.run(["ingle", "pull", model], check=True)


# The image build downloads the model, not the start of a container. Each model has its own folder, because /v1/models lists all
# models in the folder.
models = modal.Volume.from_name(f"{NAME}-models", create_if_missing=True)
hub = modal.Secret.from_dict({"HF_TOKEN": os.environ.get("HF_TOKEN")})
image = image.env({"INGLE_HOME": f"/models/{MODEL}"})
image = image.run_function(pull, args=[MODEL], volumes={"/models": models}, secrets=[hub])


def start_server() -> subprocess.Popen:
    """Returns once requests are served: Modal only checks that the port is open, which it is before the model is loaded."""
    behind_proxy = ["--no-auth", "--allow-host", "*", "--offline"]  # Modal checks tokens and host names
    command = ["ingle", "serve", "--variant", "serverless", "--model", MODEL, "--port", str(PORT), *behind_proxy]
    server = subprocess.Popen([*command, *FLAGS])
    deadline = time.monotonic() + STARTUP
    while server.poll() is None and time.monotonic() < deadline:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return server
        except OSError:
            pass  # not listening yet
        time.sleep(0.1)
    server.kill()
    raise RuntimeError(f"ingle serve was not ready after {STARTUP} s, or ended with code {server.wait()}: its log has the reason.")


app = modal.App(NAME)
keys = modal.Secret.from_dict({"INGLE_API_KEYS": os.environ.get("INGLE_API_KEYS")})
MACHINE = {"image": image, "gpu": GPU, "cpu": 4.0, "memory": 16384, "secrets": [keys], "env": used}
MACHINE["volumes"] = {"/models": models.with_mount_options(read_only=True)}

if FORM == "server":

    @app.server(
        **MACHINE, **SCALING, port=PORT, target_concurrency=TARGET, exit_grace_period=30, routing_region=REGION,
        unauthenticated=IS_PUBLIC, enable_memory_snapshot=IS_SNAPSHOT,
        experimental_options={"enable_gpu_snapshot": True} if IS_SNAPSHOT else None,
    )  # fmt: skip
    class Server:
        @modal.enter(snap=IS_SNAPSHOT)
        def start(self) -> None:
            self.server = start_server()

        @modal.exit()
        def stop(self) -> None:
            self.server.terminate()
            self.server.wait()

else:

    @app.function(**MACHINE, **SCALING, timeout=600)
    @modal.concurrent(target_inputs=TARGET, max_inputs=MOST)
    @modal.web_server(PORT, startup_timeout=STARTUP, requires_proxy_auth=not IS_PUBLIC)
    def serve() -> None:
        start_server()
