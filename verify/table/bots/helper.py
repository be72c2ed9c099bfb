"""A bot on discord.py that knows nothing of Dirigent. It answers whoever mentions it, once for each word of a person."""

import asyncio
import os
import time

import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

# Only for a Discord on this machine.
Route.BASE = os.environ["DISCORD_API_URL"]
DiscordWebSocket.DEFAULT_GATEWAY = URL(os.environ["DISCORD_GATEWAY_URL"])


class Helper(discord.Client):
    asked = True  # whether a person wrote since it answered

    async def on_ready(self):
        print("ready", flush=True)

    async def on_message(self, message):
        self.asked = self.asked or not message.author.bot
        if self.user in message.mentions and message.author != self.user:
            async with message.channel.typing():  # in the place of a model
                await asyncio.sleep(0.1)
            words, self.asked = "has an idea" if self.asked else None, False
            await message.channel.send(f"{self.user.name} {words} ({time.time_ns()})" if words else "[[pass]]")


intents = discord.Intents.default()
intents.message_content = True
Helper(intents=intents).run(os.environ["DISCORD_TOKEN"], log_handler=None)
