"""Serves one of the servers in the folder above over HTTP.

over_http.py SERVER MODE, where MODE is stream, json or sse. The system chooses
the port, which is the first line on standard output.
"""

import gc

# It ends soon: collecting garbage while it loads its modules takes longer.
gc.disable()

import importlib
import pathlib
import socket
import sys

import uvicorn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def app(server, mode):
    if mode == "sse":
        return server.sse_app()
    return server.streamable_http_app(json_response=mode == "json")


def main():
    name, mode = sys.argv[1:]
    server = importlib.import_module(name).server
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app(server, mode), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
