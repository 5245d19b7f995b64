"""Calls tools of a server that run as tasks, with FastMCP. Takes the server's URL, and
prints what came of the calls as one JSON document."""

import asyncio
import json
import sys

import fastmcp_tasks
from fastmcp import Client
from fastmcp.exceptions import ToolError


async def answer(message, response_type, params, context):
    return {"name": "Ada"}


def text(result):
    return result.content[0].text


async def main():
    done = {}
    async with Client(sys.argv[1], elicitation_handler=answer) as client:
        for tool in ["plain", "hello", "name"]:
            done[tool] = text(await client.call_tool(tool))
        try:
            await client.call_tool("fails")
        except ToolError as error:
            done["fails"] = str(error)
        task = await fastmcp_tasks.call_tool_task(client, "held")
        done["held"] = (await task.status()).status
        await task.cancel()
        done["cancelled"] = (await task.wait()).status
    print(json.dumps(done))


asyncio.run(main())
