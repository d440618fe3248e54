"""The course of a campaign: faults, quiet, the final read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from proof.campaign.campaign import DATABASE, Campaign
from proof.campaign.cluster.recorder import decisions
from proof.campaign.cluster.vitals import Vitals
from proof.campaign.faults.nemesis import Nemesis
from proof.campaign.harvest.harvest import harvest
from proof.campaign.harvest.replay import replay
from proof.campaign.plan import Fault
from proof.checker.history.files import write

Tell = Callable[[str, Nemesis, Campaign], None]


async def run(campaign: Campaign, faults: Sequence[Fault], tell: Tell) -> Nemesis:
    """Faults, heal, quiet, the final read. What happened is in the folder of histories afterwards."""
    options = campaign.options
    nemesis = Nemesis(
        campaign.history("nemesis"),
        campaign.nodes,
        campaign.wires,
        campaign.server,
        DATABASE,
        campaign.pooler,
        campaign.disk,
    )
    enough = asyncio.Event()
    vitals = Vitals(campaign.nodes, campaign.history("machine"))
    campaign.still = vitals.still
    watching = asyncio.create_task(vitals.watch(), name="vitals")
    async with asyncio.TaskGroup() as group:
        for client in campaign.clients:
            group.create_task(client.ask_until(enough))
        await _while_telling(nemesis.carry_out(faults), lambda: tell("faults", nemesis, campaign))
        await nemesis.heal()
        # What the clients asked for last must have the time to end, so they stop in the middle of the quiet.
        await _while_telling(asyncio.sleep(options.quiet / 4), lambda: tell("quiet", nemesis, campaign))
        enough.set()
        await _while_telling(asyncio.sleep(options.quiet * 3 / 4), lambda: tell("quiet", nemesis, campaign))
    await nemesis.send_all_home()
    watching.cancel()
    tell("final read", nemesis, campaign)
    dsn = campaign.server.dsn(DATABASE)
    campaign.replayed = await replay(dsn)
    found = harvest(dsn, decisions(campaign.histories))
    write(campaign.histories / "store.jsonl", [event async for event in found])
    return nemesis


async def _while_telling(what: Awaitable[None], tell: Callable[[], None]) -> None:
    task = asyncio.ensure_future(what)
    while not task.done():
        tell()
        await asyncio.wait([task], timeout=1.0)
    await task
