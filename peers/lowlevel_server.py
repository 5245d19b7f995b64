"""A server on the low-level Python SDK, for what the other layer hides.

Its tools are listed in pages, the second of which has the empty string for a
cursor. It ends its subscribers' streams on request. And it puts rounds of
input together by hand: a page to visit, a wait without a question, and
questions in answer to other methods than `tools/call`.
"""

import gc

# It ends soon: collecting garbage while it loads its modules takes longer.
gc.disable()

import anyio
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
)
from mcp.types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    Prompt,
    PromptMessage,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
)

BELL = "bell://one"
NAMES = ["ring", "hang_up", "visit", "wait", "tool-4", "tool-5", "tool-6"]
# Each cursor with its page and the cursor after it.
PAGES = {None: (0, 3, ""), "": (3, 6, "6"), "6": (6, 7, None)}

bus = InMemorySubscriptionBus()
listen = ListenHandler(bus)


def text(said):
    return CallToolResult(content=[TextContent(type="text", text=said)])


def who():
    """Asks for a name."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = ElicitRequestFormParams(message="Who?", requested_schema=form)
    return InputRequiredResult(
        input_requests={"who": ElicitRequest(params=params)}, request_state="asked"
    )


def name_in(params):
    answer = (params.input_responses or {}).get("who")
    return answer.content["name"] if answer else None


async def list_tools(ctx, params):
    start, end, following = PAGES[params.cursor if params else None]
    tools = [
        Tool(name=name, input_schema={"type": "object"}) for name in NAMES[start:end]
    ]
    return ListToolsResult(tools=tools, next_cursor=following)


async def call_tool(ctx, params):
    if params.name == "ring":
        await bus.publish(ResourceUpdated(uri=BELL))
    elif params.name == "hang_up":
        listen.close()
    elif params.name == "visit":
        answer = (params.input_responses or {}).get("page")
        if answer is None:
            page = ElicitRequestURLParams(message="Go", url="https://example.com/go")
            return InputRequiredResult(
                input_requests={"page": ElicitRequest(params=page)}
            )
        return text(f"the user chose to {answer.action}")
    elif params.name == "wait":
        rounds = int(params.request_state or 0)
        if rounds < 2:
            return InputRequiredResult(request_state=str(rounds + 1))
        return text(f"after {rounds} rounds")
    return text("done")


async def list_prompts(ctx, params):
    return ListPromptsResult(prompts=[Prompt(name="greet")])


async def get_prompt(ctx, params):
    name = name_in(params)
    if name is None:
        return who()
    said = TextContent(type="text", text=f"Greet {name}.")
    return GetPromptResult(messages=[PromptMessage(role="user", content=said)])


async def list_resources(ctx, params):
    return ListResourcesResult(resources=[Resource(uri=BELL, name="bell")])


async def read_resource(ctx, params):
    name = name_in(params)
    if name is None:
        return who()
    said = TextResourceContents(uri=BELL, text=f"It tolls for {name}.")
    return ReadResourceResult(contents=[said])


server = Server(
    "bowline-lowlevel",
    version="1.0.0",
    cache_hints={"tools/list": CacheHint(ttl_ms=60_000)},
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_subscriptions_listen=listen,
)


async def main():
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
