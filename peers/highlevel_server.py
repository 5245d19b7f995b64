"""A server on the Python SDK that speaks both eras of the protocol.

It has what the reference servers lack in the stateless era: questions to the
user and the model in the middle of a call, subscriptions, progress, log
messages and calls that last until they are called off. Tools that ask do so by
the SDK's resolvers, which put a question on the wire as the era has it.
"""

import gc

# It ends soon: collecting garbage while it loads its modules takes longer.
gc.disable()

import os
import sys
import warnings
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, Elicit, ListRoots, MCPServer, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    Completion,
    CreateMessageResult,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field

# Logging is deprecated in the newest revision, and in use all the same.
warnings.simplefilter("ignore")

server = MCPServer(
    "bowline-peer",
    version="1.2.3",
    instructions="Ask me anything; I may ask back.",
)
cancelled = anyio.Event()
notes = {"today": "buy rope"}


class Sum(BaseModel):
    """The structured result of `add`."""

    total: int
    terms: list[int]


class Seat(BaseModel):
    """The first form."""

    row: int = Field(ge=1, le=30, description="Which row")
    window: bool = Field(default=True, description="At the window")


class Consent(BaseModel):
    """The second form, which depends on the first one's answer."""

    agreed: bool


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(total=a + b, terms=[a, b])


@server.tool()
def fail(why: str) -> str:
    """Fails, and says so in its result."""
    raise ToolError(why)


async def ask_seat(flight: str) -> Elicit[Seat]:
    return Elicit(f"Which seat on {flight}?", Seat)


async def ask_consent(seat: Annotated[Seat, Resolve(ask_seat)]) -> Elicit[Consent]:
    return Elicit(f"Row {seat.row} costs extra. All right?", Consent)


@server.tool()
async def book(
    flight: str,
    seat: Annotated[Seat, Resolve(ask_seat)],
    consent: Annotated[Consent, Resolve(ask_consent)],
) -> str:
    """Books a seat, in two rounds of questions."""
    side = "window" if seat.window else "aisle"
    return f"{flight}: row {seat.row}, {side}, {'agreed' if consent.agreed else 'refused'}"


async def ask_model(text: str) -> Sample:
    question = SamplingMessage(
        role="user", content=TextContent(type="text", text=f"Sum up: {text}")
    )
    return Sample([question], max_tokens=50, system_prompt="Be brief.")


async def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool()
async def survey(
    text: str,
    summary: Annotated[CreateMessageResult, Resolve(ask_model)],
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
) -> str:
    """Asks the model and for the roots, both in one round."""
    said = summary.content.text if isinstance(summary.content, TextContent) else "?"
    places = ", ".join(str(root.uri) for root in roots.roots)
    return f"{summary.model} says {said}; roots: {places}"


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts, reporting each step."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return f"counted to {steps}"


@server.tool()
async def chatter(ctx: Context) -> str:
    """Writes one log message of each of four levels."""
    await ctx.debug("a detail", logger_name="peer")
    await ctx.info("some news", logger_name="peer")
    await ctx.warning({"mind": "the gap"}, logger_name="peer")
    await ctx.error("a fault", logger_name="peer")
    return "said it all"


@server.tool()
async def hang(ctx: Context) -> str:
    """Reports that it has begun, then lasts until it is called off."""
    try:
        await ctx.report_progress(1, 2, "begun")
        await anyio.sleep_forever()
    finally:
        cancelled.set()


@server.tool()
async def await_cancellation() -> str:
    """Returns once a call of `hang` was called off."""
    await cancelled.wait()
    return "a call was cancelled"


@server.tool()
async def write(name: str, text: str, ctx: Context) -> str:
    """Changes a note, and tells those who watch it."""
    notes[name] = text
    await ctx.notify_resource_updated(f"note://{name}")
    return f"wrote {name}"


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Adds a tool, a resource's worth of news and a prompt's, and tells."""
    server.add_tool(lambda: name, name=name, description="A late tool")
    await ctx.notify_tools_changed()
    await ctx.notify_resources_changed()
    await ctx.notify_prompts_changed()
    return f"grew {name}"


@server.tool()
def die(code: int) -> str:
    """Ends the process in the middle of a call."""
    print(f"dying with {code}", file=sys.stderr, flush=True)
    os._exit(code)


@server.resource("note://today", mime_type="text/plain")
def today() -> str:
    """What is to be done today."""
    return notes["today"]


@server.resource("bytes://knot", mime_type="application/octet-stream")
def knot() -> bytes:
    """Bytes that are not text."""
    return bytes([0, 255, 7])


@server.resource("note://{name}", mime_type="text/plain")
def note(name: str) -> str:
    """Any note, by its name."""
    return notes.get(name, f"nothing about {name}")


@server.prompt()
def greet(name: str, manner: str = "warmly") -> str:
    """A greeting to be written."""
    return f"Greet {name} {manner}."


@server.completion()
async def complete(ref, argument, context):
    """Proposes manners, and knows of the name if it is given."""
    manners = ["warmly", "coldly", "wordlessly"]
    if context and context.arguments and context.arguments.get("name") == "Ada":
        manners.append("wonderfully")
    values = [manner for manner in manners if manner.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


if __name__ == "__main__":
    server.run("stdio")
