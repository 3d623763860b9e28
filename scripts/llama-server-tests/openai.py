# The part of the openai package that upstream's tests use, over requests: Debian has no such package.
import json

import requests


class Reply:
    """Reads fields as attributes; a field that is not there is None, as in the package."""

    def __init__(self, fields):
        self._fields = fields

    def __getattr__(self, name):
        if name == "output_text":
            items = [item for item in self._fields["output"] if item["type"] == "message"]
            return "".join(part["text"] for item in items for part in item["content"])
        return wrapped(self._fields.get(name))


def wrapped(value):
    if isinstance(value, dict):
        return Reply(value)
    if isinstance(value, list):
        return [wrapped(each) for each in value]
    return value


class Route:
    def __init__(self, url, headers):
        self._url = url
        self._headers = headers

    def create(self, **body):
        is_streamed = body.get("stream", False)
        response = requests.post(self._url, json=body, headers=self._headers, stream=is_streamed, timeout=60)
        response.raise_for_status()
        return self._events(response) if is_streamed else Reply(response.json())

    @staticmethod
    def _events(response):
        for line in response.iter_lines():
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                yield Reply(json.loads(line[6:]))


class Chat:
    def __init__(self, completions):
        self.completions = completions


class OpenAI:
    def __init__(self, api_key, base_url):
        headers = {"Authorization": f"Bearer {api_key}"}
        self.chat = Chat(Route(f"{base_url}/chat/completions", headers))
        self.completions = Route(f"{base_url}/completions", headers)
        self.embeddings = Route(f"{base_url}/embeddings", headers)
        self.responses = Route(f"{base_url}/responses", headers)
