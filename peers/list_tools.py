"""Writes what every server of servers.json offers to one file: list_tools.py PEERS OUTPUT.

The tests generate clients from it. The texts are those of the servers' authors, so the
file is made here and not kept in the repository.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


class Server:
    """A server on standard input and output."""

    def __init__(self, peers, entry):
        # Nothing of the environment reaches a server but what it needs to run.
        environment = {"PATH": os.environ["PATH"], "HOME": str(peers / "home")}
        self.process = subprocess.Popen(
            [peers / entry["command"], *entry.get("args", [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | entry.get("env", {}),
            cwd=peers / "home",
        )
        self.last_id = 0

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def request(self, method, params):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last_id and "method" not in message:
                return message
            if "id" in message and "method" in message:
                error = {"code": -32601, "message": "not supported"}
                self.send({"id": message["id"], "error": error})
        raise RuntimeError("the server ended")

    def pages(self, method, member):
        items, params = [], {}
        while True:
            page = self.request(method, params)
            # A server without such a list may also say so.
            if "error" in page:
                return items
            items += page["result"].get(member, [])
            cursor = page["result"].get("nextCursor")
            if not cursor:
                return items
            params = {"cursor": cursor}


def offers(peers, name, entry):
    server = Server(peers, entry)
    try:
        opened = server.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "lists", "version": "1"},
            },
        )["result"]
        server.send({"method": "notifications/initialized"})
        offered = {"serverInfo": opened["serverInfo"]}
        for method, member in LISTS.items():
            if method.split("/")[0] in opened["capabilities"]:
                offered[member] = server.pages(method, member)
        if not offered.get("tools"):
            raise RuntimeError(f"{name} has no tools")
        return offered
    finally:
        server.process.stdin.close()
        try:
            server.process.wait(10)
        except subprocess.TimeoutExpired:
            server.process.kill()


def main():
    peers, output = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    (peers / "home").mkdir(exist_ok=True)
    config = json.loads((Path(__file__).parent / "servers.json").read_text())
    servers = config["mcpServers"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = {name: pool.submit(offers, peers, name, entry) for name, entry in servers.items()}
        offered = {name: future.result(120) for name, future in futures.items()}
    output.write_text(json.dumps(offered, indent=1))


main()
