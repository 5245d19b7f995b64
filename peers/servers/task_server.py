"""A server on FastMCP whose tools run as tasks, over standard streams."""

import asyncio
from datetime import timedelta

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension

mcp = FastMCP("fastmcp-tasks")
mcp.add_extension(TasksExtension())

# Nobody waits for five seconds, which is the default.
SOON = timedelta(milliseconds=50)
OPTIONAL = TaskConfig(mode="optional", poll_interval=SOON)
REQUIRED = TaskConfig(mode="required", poll_interval=SOON)


@mcp.tool(task=OPTIONAL)
async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool(task=REQUIRED)
async def required() -> str:
    """Runs as a task only."""
    return "as a task"


@mcp.tool(task=OPTIONAL)
async def fails() -> str:
    """Fails."""
    raise ValueError("no paper")


@mcp.tool(task=OPTIONAL)
async def forever() -> str:
    """Never ends by itself."""
    await asyncio.Event().wait()
    return "never"


@mcp.tool(task=OPTIONAL)
async def greet(ctx: Context) -> str | mcp_types.InputRequiredResult:
    """Asks for a name, and greets."""
    answers = ctx.input_responses
    if not answers:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        form = mcp_types.ElicitRequestFormParams(message="Your name?", requested_schema=schema)
        question = mcp_types.ElicitRequest(params=form)
        return mcp_types.InputRequiredResult(input_requests={"name": question})
    return f"Hello, {answers['name'].content['name']}!"


if __name__ == "__main__":
    mcp.run(show_banner=False)
