"""A bot on discord.py that asks Dirigent for its turns. `cargo run -p dirigent-front --example table` runs it."""

import asyncio
import os
import time

import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from dirigent import Dirigent

# Only for a Discord on this machine.
Route.BASE = os.environ["DISCORD_API_URL"]
DiscordWebSocket.DEFAULT_GATEWAY = URL(os.environ["DISCORD_GATEWAY_URL"])

AGENT = os.environ["DIRIGENT_AGENT"]
dirigent = Dirigent(os.environ["DIRIGENT_URL"], os.environ["DIRIGENT_SECRET"], AGENT)
left = 0  # what it still has to say


async def think(begun):
    """In the place of a model: two answers to each word of a person."""
    global left
    if not begun["holdsFloor"]:
        return f"{AGENT} answers ({time.time_ns()})"
    missed = begun.get("missed", [])  # left out where the chat did not tell
    if any("think" in message["line"] for message in missed):
        await asyncio.sleep(2)
    left = 2 if any(message["isPerson"] for message in missed) else left
    left -= 1
    return f"{AGENT} heard {len(missed)} messages ({time.time_ns()})" if left >= 0 else None


class Bot(discord.Client):
    async def on_ready(self):
        self.alive = asyncio.create_task(dirigent.stay())
        print("ready", flush=True)

    async def on_message(self, message):
        if self.user in message.mentions:
            words = await dirigent.answer(message, think)
            if words:
                await message.channel.send(words)


Bot(intents=discord.Intents.default()).run(os.environ["DISCORD_TOKEN"])
