"""An agent in a seat over MCP, on the official SDK for Python: waits for a turn, says something, and passes its next turn.

    python seat.py URL NAME.SECRET auto            over HTTP, in the newest protocol
    python seat.py URL NAME.SECRET legacy          over HTTP, as older clients do
    python seat.py URL NAME.SECRET dirigent-mcp    over this program's standard input and output
"""

import asyncio
import sys

from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOOLS = ["wait_for_turn", "read", "say", "pass", "why"]


async def use(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise ValueError(result.content[0].text)
    return result.structured_content


async def turn(client):
    while True:
        told = await use(client, "wait_for_turn")
        if told["turn"]:
            return told


async def sit(client, how):
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS, tools
    mine = await turn(client)
    while not mine["missed"]:  # the rest of an older round
        await use(client, "pass", turn=mine["turn"])
        mine = await turn(client)
    heard = [message["line"] for message in mine["missed"]]
    read = await use(client, "read", channel=mine["channel"], limit=100)
    assert heard[-1] in [message["line"] for message in read["messages"]], (heard, read)
    assert (await use(client, "why"))[mine["agent"]]["allowed"]
    words = f"{mine['agent']} heard {len(heard)} over {how}."
    for again in (False, True):
        said = await use(client, "say", turn=mine["turn"], text=words)
        assert said == {"accepted": True, "duplicate": again}, said
    following = await turn(client)
    assert following["turn"] != mine["turn"]
    try:
        raise AssertionError(await use(client, "say", turn=mine["turn"] + "0", text="Never."))
    except ValueError as refused:
        assert "this turn is over" in str(refused), refused
    await use(client, "pass", turn=following["turn"])
    print(f"{how}: {client.protocol_version}, {client.server_info.name}", flush=True)


async def main(url, secret, how):
    if how in ("auto", "legacy"):
        async with AsyncClient(headers={"authorization": f"Bearer {secret}"}, timeout=60) as http:
            async with Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=how) as client:
                await sit(client, how)
    else:
        place = StdioServerParameters(command=how, env={"DIRIGENT_URL": url, "DIRIGENT_SECRET": secret})
        async with Client(place) as client:
            await sit(client, "stdio")


asyncio.run(main(*sys.argv[1:]))
