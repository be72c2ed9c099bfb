"""Lets a bot on discord.py ask Dirigent for its turns. Copy this file beside your bot: aiohttp comes with discord.py.

    dirigent = Dirigent("http://127.0.0.1:8131", "bots.SECRET", "critic")

    async def on_message(self, message):
        if self.user in message.mentions:
            words = await dirigent.answer(message, think)
            if words:
                await message.channel.send(words)
"""

import asyncio

import aiohttp


class Dirigent:
    def __init__(self, url, secret, agent):
        self.url, self.agent = f"{url}/v1", agent
        self.headers = {"authorization": f"Bearer {secret}"}

    async def answer(self, message, think):
        """Returns the words that you may post now, or None. `think(begun)` calls your model, and returns words or None."""
        run = {"agent": self.agent, "channel": str(message.channel.id), "run": str(message.id)}
        begun = await self.ask("begin", run, seconds=4)
        if not begun or not begun["allowed"]:
            return None  # also without an answer: whoever does not know that it has the floor is silent
        end = {"outcome": "failed"}
        try:
            words = await think(begun)
            end = {"outcome": "spoke", "text": words} if words else {"outcome": "pass"}
        finally:
            ended = await self.ask("end", {**run, **end}, seconds=15)
        return words if ended and ended["accepted"] else None

    async def stay(self):
        """Says every 5 s that the agent is alive. Make a task of it when your bot is ready."""
        while True:
            await self.ask("heartbeat", {"agents": [self.agent]}, seconds=5)
            await asyncio.sleep(5)

    async def ask(self, path, body, seconds):
        """Asks until there is an answer or the time is over. What is asked twice counts once."""
        until = asyncio.get_running_loop().time() + seconds
        while (left := until - asyncio.get_running_loop().time()) > 0:
            try:
                limit = aiohttp.ClientTimeout(total=min(left, 5))
                async with aiohttp.ClientSession(headers=self.headers, timeout=limit) as session:
                    async with session.post(f"{self.url}/{path}", json=body) as answer:
                        if answer.status < 500 and answer.status != 429:
                            answer.raise_for_status()
                            return await answer.json()
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, asyncio.TimeoutError):
                pass
            await asyncio.sleep(0.5)
