"""Drives a server with the Python SDK 2.x: both eras.

README.md says what goes in and what comes out.
"""

import gc

# It ends soon: collecting garbage while it loads its modules takes longer.
gc.disable()

import json
import logging
import signal
import sys
import warnings
from collections import Counter
from contextlib import AsyncExitStack

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import (
    CompleteRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitResult,
    ErrorData,
    Implementation,
    ListRootsResult,
    Notification,
    ProgressNotification,
    SamplingCapability,
)

# When a driver gives up. Whoever started it waits longer than this.
DEADLINE_SECONDS = 60
MODES = {"handshake": "legacy", "stateless": "2026-07-28", "auto": "auto"}


def plain(model):
    """A model of the SDK's as it was on the wire, as far as the SDK knows it."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Record:
    """What is asked and told on the way, and the answers still to give."""

    def __init__(self, scenario):
        self.elicit = list(scenario.get("elicit", []))
        self.sample = list(scenario.get("sample", []))
        self.roots = scenario.get("capabilities", {}).get("roots", [])
        self.taken = Counter()
        self.news = anyio.Event()
        self.closing = False
        lists = "done asked notifications complaints faults frames processes exchanges"
        self.document = {name: [] for name in lists.split()}

    def answer(self, method, params, queue):
        asked = {"method": method}
        if params is not None:
            asked["params"] = plain(params)
        self.document["asked"].append(asked)
        if not queue:
            self.document["faults"].append(f"no answer is left for {method}")
            return ErrorData(code=-32603, message="no answer is left")
        answer = queue.pop(0)
        if isinstance(answer, str):
            content = {"type": "text", "text": answer}
            answer = {"role": "assistant", "content": content}
            answer |= {"model": "queued", "stopReason": "endTurn"}
        if "error" in answer:
            return ErrorData.model_validate(answer["error"])
        return answer

    async def elicited(self, context, params):
        answer = self.answer("elicitation/create", params, self.elicit)
        return made(ElicitResult, answer)

    async def sampled(self, context, params):
        answer = self.answer("sampling/createMessage", params, self.sample)
        tools = isinstance(answer, dict) and isinstance(answer["content"], list)
        return made(CreateMessageResultWithTools if tools else CreateMessageResult, answer)

    async def listed_roots(self, context):
        roots = {"roots": [{"uri": uri} for uri in self.roots]}
        return made(ListRootsResult, self.answer("roots/list", None, [roots]))

    async def notified(self, message):
        if isinstance(message, Exception):
            self.complained(message)
        # Progress is told to the call that it belongs to.
        elif isinstance(message, Notification) and not isinstance(message, ProgressNotification):
            self.document["notifications"].append({"method": message.method} | plain(message))
            self.news.set()
            self.news = anyio.Event()

    def complained(self, message):
        # What is under way when the driver leaves is no fault of the server's.
        if not self.closing:
            self.document["complaints"].append(str(message))

    async def next(self, method):
        """The next notification of a method that nobody has waited for yet."""
        while True:
            told = [n for n in self.document["notifications"] if n["method"] == method]
            if self.taken[method] < len(told):
                self.taken[method] += 1
                return told[self.taken[method] - 1].get("params", {})
            await self.news.wait()


def made(kind, answer):
    return answer if isinstance(answer, ErrorData) else kind.model_validate(answer)


class Complaints(logging.Handler):
    """The SDK logs what it finds wrong with a server's messages."""

    def __init__(self, record):
        super().__init__(logging.WARNING)
        self.record = record

    def emit(self, entry):
        self.record.complained(entry.getMessage())


def watch_processes(document):
    """Notes each line that goes into and comes out of a process, before the
    SDK has touched it. Gives the processes that were started."""
    processes = []
    open_process = anyio.open_process

    def tap(stream, method, direction, index):
        call, rest = getattr(stream, method), b""

        def note(data):
            nonlocal rest
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                document["frames"].append({"process": index, direction: parse(line)})

        async def receive(*how):
            note(data := await call(*how))
            return data

        async def send(data):
            note(data)
            await call(data)

        setattr(stream, method, receive if method == "receive" else send)

    async def opening(*command, **how):
        process = await open_process(*command, **how)
        tap(process.stdout, "receive", "received", len(processes))
        tap(process.stdin, "send", "sent", len(processes))
        processes.append(process)
        return process

    anyio.open_process = opening
    return processes


class Tapped(httpx2.AsyncByteStream):
    """The body of an answer, which tells of each frame in it."""

    def __init__(self, body, stream, note):
        self.body = body
        self.stream = stream
        self.note = note

    async def __aiter__(self):
        rest = b""
        async for data in self.body:
            rest += data
            if self.stream:
                *lines, rest = rest.split(b"\n")
                self.events(lines)
            yield data
        if rest and not self.stream:
            self.note(rest)

    def events(self, lines):
        for line in lines:
            # A frame is one line of data: JSON has no need of more. An event
            # without data is only there to be named.
            field, _, data = line.partition(b":")
            if field == b"data" and data.strip():
                self.note(data)

    async def aclose(self):
        await self.body.aclose()


def watched_http(document):
    """A client of the kind that the SDK makes, which notes each request, its
    answer, and the frames in both."""

    async def asked(request):
        exchange = {"verb": request.method, "status": None, "type": None}
        request.extensions["exchange"] = len(document["exchanges"])
        document["exchanges"].append(exchange)
        if request.content:
            frame = {"exchange": request.extensions["exchange"], "sent": parse(request.content)}
            document["frames"].append(frame)

    async def answered(response):
        index = response.request.extensions["exchange"]
        kind = response.headers.get("content-type")
        document["exchanges"][index] |= {"status": response.status_code, "type": kind}

        def note(data):
            document["frames"].append({"exchange": index, "received": parse(data)})

        stream = (kind or "").startswith("text/event-stream")
        response.stream = Tapped(response.stream, stream, note)

    client = create_mcp_http_client()
    client.event_hooks = {"request": [asked], "response": [answered]}
    return client


def parse(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"unreadable": line.decode(errors="replace")}


def describe(error):
    # Task groups wrap what happened in them.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    described = {"name": type(error).__name__, "message": str(error)}
    if isinstance(error, MCPError):
        described |= plain(error.error)
    return described


class Driver:
    def __init__(self, client, record, streams):
        self.client = client
        self.record = record
        self.streams = streams
        self.stateless = client.protocol_version == MODES["stateless"]
        self.listening = {}

    async def perform(self, action):
        if "together" in action:
            together = [None] * len(action["together"])

            async def run(index, one):
                together[index] = await self.perform(one)

            async with anyio.create_task_group() as tasks:
                for index, one in enumerate(action["together"]):
                    tasks.start_soon(run, index, one)
            return {"together": together}
        outcome = {"progress": []} if "call" in action else {}
        with anyio.CancelScope() as scope:

            async def progressed(progress, total, message):
                known = {"progress": progress, "total": total, "message": message}
                outcome["progress"].append({k: v for k, v in known.items() if v is not None})
                if action.get("cancel_on") == "progress":
                    scope.cancel()

            try:
                result = await self.act(action, progressed)
                outcome["result"] = result if isinstance(result, dict) else plain(result)
            except Exception as error:
                outcome["error"] = describe(error)
        if scope.cancelled_caught:
            outcome["cancelled"] = True
        return outcome

    async def act(self, action, progressed):
        client, arguments = self.client, action.get("arguments")
        cache = {"cache_mode": "refresh" if action.get("fresh") else "use"}
        match action:
            case {"await": method}:
                return await self.record.next(method)
            case {"list": "tools"}:
                return await pages(client.list_tools, "tools", cache)
            case {"list": "prompts"}:
                return await pages(client.list_prompts, "prompts", cache)
            case {"list": "resources"}:
                return await pages(client.list_resources, "resources", cache)
            case {"list": "templates"}:
                return await pages(client.list_resource_templates, "resourceTemplates", cache)
            case {"call": name}:
                return await client.call_tool(name, arguments, progress_callback=progressed)
            case {"read": uri}:
                return await client.read_resource(uri, **cache)
            case {"prompt": name}:
                return await client.get_prompt(name, arguments)
            case {"complete": params}:
                known = CompleteRequestParams.model_validate(params)
                context = params.get("context", {}).get("arguments")
                return await client.complete(known.ref, params["argument"], context)
            case {"ping": _}:
                return await client.send_ping()
            case {"subscribe": uri} if not self.stateless:
                return await client.subscribe_resource(uri)
            case {"unsubscribe": uri} if not self.stateless:
                return await client.unsubscribe_resource(uri)
            case {"listen": _} if not self.stateless:
                return {}  # News of lists comes unasked.
            case {"subscribe": uri}:
                return await self.listen(uri, resource_subscriptions=[uri])
            case {"listen": wanted}:
                return await self.listen(
                    None,
                    tools_list_changed=wanted.get("toolsListChanged", False),
                    prompts_list_changed=wanted.get("promptsListChanged", False),
                    resources_list_changed=wanted.get("resourcesListChanged", False),
                    resource_subscriptions=wanted.get("resourceSubscriptions", []),
                )
            case {"unsubscribe": uri}:
                await self.listening.pop(uri).aclose()
                return {}
        raise ValueError(f"no such action: {action}")

    async def listen(self, uri, **wanted):
        stream = await self.streams.enter_async_context(AsyncExitStack())
        listening = await stream.enter_async_context(self.client.listen(**wanted))
        self.listening[uri] = stream
        return listening.honored


async def pages(fetch, key, cache):
    """All pages as one: this SDK leaves that to its user."""
    page = await fetch(**cache)
    everything = plain(page)
    while page.next_cursor is not None:
        page = await fetch(cursor=page.next_cursor)
        everything[key] += plain(page)[key]
    everything.pop("nextCursor", None)
    return everything


def dialled(command, args, document):
    """A server that is a URL, or else a command to start."""
    if command.startswith(("http:", "https:")):
        return streamable_http_client(command, http_client=watched_http(document))
    return StdioServerParameters(command=command, args=args)


async def converse(scenario, record):
    wanted = scenario.get("capabilities", {})
    if isinstance(wanted.get("elicitation"), dict):
        raise ValueError("this SDK does not say which elicitation it can do")
    sampling = wanted.get("sampling")
    client = Client(
        dialled(sys.argv[1], sys.argv[2:], record.document),
        mode=MODES[scenario.get("era", "auto")],
        client_info=Implementation(name="bowline-py2", version="1.0.0"),
        elicitation_callback=record.elicited if wanted.get("elicitation") else None,
        sampling_callback=record.sampled if sampling else None,
        sampling_capabilities=SamplingCapability.model_validate(sampling)
        if isinstance(sampling, dict)
        else None,
        list_roots_callback=record.listed_roots if "roots" in wanted else None,
        # In the stateless era each request says what it wants to hear.
        log_level=scenario.get("log"),
        message_handler=record.notified,
    )
    async with client, AsyncExitStack() as streams:
        driver = Driver(client, record, streams)
        record.document["version"] = client.protocol_version
        record.document["capabilities"] = plain(client.server_capabilities)
        record.document["instructions"] = client.instructions
        if client.server_info:
            record.document["server"] = plain(client.server_info)
        if "log" in scenario and not driver.stateless:
            await client.set_logging_level(scenario["log"])
        for action in scenario.get("do", []):
            record.document["done"].append(await driver.perform(action))
        record.closing = True


def end_of(process):
    code = process.returncode
    if code is None or code >= 0:
        return {"code": code, "signal": None}
    return {"code": None, "signal": signal.Signals(-code).name}


async def main():
    warnings.simplefilter("ignore")
    scenario = json.load(sys.stdin)
    record = Record(scenario)
    logging.getLogger().addHandler(Complaints(record))
    document = record.document
    processes = watch_processes(document)
    with anyio.move_on_after(DEADLINE_SECONDS) as deadline:
        try:
            await converse(scenario, record)
        except Exception as error:
            document["error"] = describe(error)
    if deadline.cancelled_caught:
        document["faults"].append("the deadline passed")
    document["processes"] = [end_of(process) for process in processes]
    document["left"] = {"elicit": len(record.elicit), "sample": len(record.sample)}
    print(json.dumps(document))


if __name__ == "__main__":
    anyio.run(main)
