"""The first hour of a bot on discord.py, unmodified, inside the loopback Discord.

    clients/run python3 clients/first_hour.py        (.ci/first-hour installs what it needs, and runs it)

Each step asserts what comes back and the event that follows. Nothing sleeps: an event that does not come
within PATIENCE fails the step. What the person types goes into the file PERSON, which the terminal of
loopback-discord reads.
"""

import asyncio
import io
import os
import sys

import discord
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

# The only two lines that a bot on discord.py needs for the loopback Discord.
Route.BASE = os.environ["DISCORD_API_URL"]
DiscordWebSocket.DEFAULT_GATEWAY = URL(os.environ["DISCORD_GATEWAY_URL"])

PATIENCE = 20
GUILD = discord.Object(int(os.environ["DISCORD_GUILD_ID"]))
CHANNEL = int(os.environ["DISCORD_CHANNEL_ID"])
PERSON = int(os.environ["DISCORD_USER_ID"])


def person_types(line):
    with open(os.environ["PERSON"], "w", encoding="utf-8") as terminal:
        terminal.write(line + "\n")


def done(step):
    print(f"discord.py {discord.__version__}: {step}", flush=True)


class Bot(discord.Client):
    def __init__(self):
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(intents=intents)
        self.tree = app_commands.CommandTree(self)

    def expect(self, event, check=None):
        """Begins to listen at once; await what it returns after the step that causes the event."""
        return self.wait_for(event, check=check, timeout=PATIENCE)

    async def hour(self):
        await asyncio.wait_for(self.wait_until_ready(), PATIENCE)
        channel = self.get_channel(CHANNEL)
        assert channel is not None and self.user.id == channel.guild.me.id
        done("logs in and sees its guild")
        await self.talks(channel)
        await self.embeds(channel)
        await self.reacts(channel)
        await self.sends_files(channel)
        await self.pins(channel)
        await self.deletes_many(channel)
        await self.uses_a_webhook(channel)
        await self.starts_threads(channel)
        await self.answers_commands(channel)

    async def talks(self, channel):
        heard = self.expect("message", lambda it: it.author.id == self.user.id)
        greeting = await channel.send("Good morning")
        assert (await heard).id == greeting.id and greeting.content == "Good morning"
        heard = self.expect("message", lambda it: it.author.id == PERSON)
        person_types("Good morning, bot")
        said = await heard
        assert said.content == "Good morning, bot", said.content
        heard = self.expect("message", lambda it: it.reference is not None)
        reply = await said.reply("How are you?")
        assert reply.type is discord.MessageType.reply
        assert (await heard).reference.message_id == said.id
        changed = self.expect("message_edit", lambda _, it: it.id == greeting.id)
        await greeting.edit(content="Good evening")
        assert (await changed)[1].content == "Good evening"
        read = [message async for message in channel.history(limit=3)]
        assert [it.id for it in read] == [reply.id, said.id, greeting.id]
        done("greets, reads, replies, edits and reads the history")

    async def embeds(self, channel):
        embed = discord.Embed(title="Report", description="All is well.", colour=0x336699)
        embed.add_field(name="one", value="1").set_footer(text="end").set_author(name="bot")
        heard = self.expect("message", lambda it: bool(it.embeds))
        sent = await channel.send(embed=embed)
        assert sent.embeds == [embed], sent.embeds[0].to_dict()
        assert (await heard).embeds[0].fields[0].value == "1"
        changed = self.expect("message_edit", lambda _, it: it.id == sent.id)
        await sent.edit(embed=discord.Embed(title="Later"))
        assert (await changed)[1].embeds[0].title == "Later"
        done("sends an embed and changes it")

    async def reacts(self, channel):
        message = await channel.send("a motion")
        baton = channel.guild.emojis[0]
        for emoji in ["👍", baton]:
            added = self.expect("reaction_add", lambda it, _: it.message.id == message.id)
            await message.add_reaction(emoji)
            reaction, user = await added
            assert str(reaction.emoji) == str(emoji) and user.id == self.user.id
        read = await channel.fetch_message(message.id)
        assert [(it.count, it.me) for it in read.reactions] == [(1, True), (1, True)]
        assert [it.id async for it in read.reactions[0].users()] == [self.user.id]
        removed = self.expect("reaction_remove", lambda it, _: it.message.id == message.id)
        await message.remove_reaction("👍", self.user)
        assert str((await removed)[0].emoji) == "👍"
        cleared = self.expect("reaction_clear_emoji", lambda it: it.message.id == message.id)
        await message.clear_reaction(baton)
        await cleared
        await message.add_reaction("🎉")
        cleared = self.expect("reaction_clear", lambda it, _: it.id == message.id)
        await message.clear_reactions()
        await cleared
        assert not (await channel.fetch_message(message.id)).reactions
        done("reacts, lists, and takes reactions away")

    async def sends_files(self, channel):
        content = b"Nothing was decided.\n" * 1000
        file = discord.File(io.BytesIO(content), "minutes.txt", description="what was said")
        heard = self.expect("message", lambda it: bool(it.attachments))
        sent = await channel.send("the minutes", file=file)
        attachment = (await heard).attachments[0]
        assert (attachment.filename, attachment.size) == ("minutes.txt", len(content))
        assert attachment.description == "what was said"
        assert attachment.content_type.startswith("text/plain")
        assert await attachment.read() == content
        picture = discord.File(io.BytesIO(b"\x89PNG"), "dot.png")
        embed = discord.Embed(title="a picture").set_image(url="attachment://dot.png")
        shown = await channel.send(file=picture, embed=embed)
        assert shown.embeds[0].image.url == shown.attachments[0].url
        more = discord.File(io.BytesIO(b"more"), "more.txt")
        changed = await sent.add_files(more)
        assert [it.filename for it in changed.attachments] == ["minutes.txt", "more.txt"]
        changed = await changed.remove_attachments(changed.attachments[0])
        assert [it.filename for it in changed.attachments] == ["more.txt"]
        done("sends files, reads them back, adds and removes some")

    async def pins(self, channel):
        message = await channel.send("a decision")
        told = self.expect("message", lambda it: it.type is discord.MessageType.pins_add)
        changed = self.expect("guild_channel_pins_update")
        await message.pin()
        assert (await told).reference.message_id == message.id
        assert (await changed)[1] is not None
        assert [it.id async for it in channel.pins()] == [message.id]
        changed = self.expect("guild_channel_pins_update")
        await message.unpin()
        await changed
        assert [it.id async for it in channel.pins()] == []
        done("pins and unpins")

    async def deletes_many(self, channel):
        messages = [await channel.send(f"{number}") for number in range(3)]
        gone = self.expect("bulk_message_delete")
        await channel.delete_messages(messages)
        assert {it.id for it in await gone} == {it.id for it in messages}
        extra = await channel.send("one more")
        gone = self.expect("message_delete", lambda it: it.id == extra.id)
        purged = await channel.purge(limit=1)
        assert [it.id for it in purged] == [extra.id]
        await gone
        done("deletes many messages at once, and purges")

    async def uses_a_webhook(self, channel):
        changed = self.expect("webhooks_update", lambda it: it.id == channel.id)
        webhook = await channel.create_webhook(name="herald")
        await changed
        assert [it.id for it in await channel.webhooks()] == [webhook.id]
        assert [it.id for it in await channel.guild.webhooks()] == [webhook.id]
        heard = self.expect("message", lambda it: it.webhook_id == webhook.id)
        sent = await webhook.send(
            "Hear, hear", username="crier", wait=True, embed=discord.Embed(title="news"),
            file=discord.File(io.BytesIO(b"all of it"), "news.txt"),
        )
        message = await heard
        assert (message.id, message.author.name) == (sent.id, "crier")
        assert await message.attachments[0].read() == b"all of it"
        assert await webhook.send("no answer is waited for") is None
        changed = self.expect("message_edit", lambda _, it: it.id == sent.id)
        await sent.edit(content="Hear, hear!")
        assert (await changed)[1].content == "Hear, hear!"
        assert (await webhook.fetch_message(sent.id)).content == "Hear, hear!"
        gone = self.expect("message_delete", lambda it: it.id == sent.id)
        await sent.delete()
        await gone
        by_token = discord.Webhook.partial(webhook.id, webhook.token, client=self)
        assert (await by_token.fetch(prefer_auth=False)).name == "herald"
        renamed = await webhook.edit(name="envoy")
        assert renamed.name == "envoy"
        await webhook.delete()
        assert await channel.webhooks() == []
        done("creates, uses, changes and deletes a webhook")

    async def starts_threads(self, channel):
        types = discord.ChannelType
        for kind in [types.public_thread, types.private_thread]:
            created = self.expect("thread_create")
            thread = await channel.create_thread(
                name=f"{kind}", type=kind, auto_archive_duration=60, invitable=False)
            assert (await created).id == thread.id
            assert (thread.type, thread.auto_archive_duration) == (kind, 60)
            heard = self.expect("message", lambda it: it.channel.id == thread.id)
            await thread.send("inside")
            assert (await heard).content == "inside"
        topic = await channel.send("a topic")
        created = self.expect("thread_create")
        thread = await topic.create_thread(name="topic")
        assert (await created).id == thread.id == topic.id
        webhook = await channel.create_webhook(name="herald")
        heard = self.expect("message", lambda it: it.webhook_id == webhook.id)
        await webhook.send("in the thread", thread=thread)
        assert (await heard).channel.id == thread.id
        changed = self.expect("thread_update")
        await thread.edit(archived=True, locked=True)
        assert (await changed)[1].archived
        gone = self.expect("raw_thread_delete")
        await thread.delete()
        await gone
        done("starts threads of each type and from a message")

    async def answers_commands(self, channel):
        @self.tree.command(description="Answers", guild=GUILD)
        async def echo(interaction: discord.Interaction, text: str):
            await interaction.response.send_message(text, embed=discord.Embed(title="echo"))

        @self.tree.command(description="Answers later", guild=GUILD)
        async def later(interaction: discord.Interaction):
            await interaction.response.defer()
            await interaction.edit_original_response(content="now")
            await interaction.followup.send("and more", file=discord.File(io.BytesIO(b"1"), "1.txt"))

        @self.tree.command(description="Answers one alone", guild=GUILD)
        async def whisper(interaction: discord.Interaction):
            await interaction.response.send_message("psst", ephemeral=True)
            original = await interaction.original_response()
            assert original.content == "psst" and original.flags.ephemeral
            await channel.send("whispered")

        synced = await self.tree.sync(guild=GUILD)
        assert {it.name for it in synced} == {"echo", "later", "whisper"}
        heard = self.expect("message", lambda it: it.interaction_metadata is not None)
        person_types("/echo text=hello")
        answer = await heard
        assert (answer.content, answer.embeds[0].title) == ("hello", "echo")
        changed = self.expect("message_edit", lambda _, it: it.content == "now")
        heard = self.expect("message", lambda it: it.content == "and more")
        person_types("/later")
        await changed
        assert (await heard).attachments[0].filename == "1.txt"
        heard = self.expect("message", lambda it: it.content == "whispered")
        person_types("/whisper")
        await heard
        done("answers slash commands: at once, later, and to one alone")


async def main():
    discord.utils.setup_logging(root=True)
    async with Bot() as bot:
        connected = asyncio.create_task(bot.start(os.environ["DISCORD_TOKEN"]))
        hour = asyncio.create_task(bot.hour())
        await asyncio.wait({connected, hour}, return_when=asyncio.FIRST_COMPLETED)
        if not hour.done():
            await connected
        await hour
        await bot.close()
        await connected


try:
    asyncio.run(main())
except Exception as error:
    print(f"the first hour ended early: {error!r}", file=sys.stderr)
    raise
