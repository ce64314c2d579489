"""Tasks that take turns, naps that overlap, an async generator, an async context, a cancelled task."""
import asyncio

ORDER = []


def stir(name, step):
    ORDER.append("%s%d" % (name, step))


async def cook(name, steps):
    for step in range(steps):
        stir(name, step)
        await asyncio.sleep(0)
    return name


async def nap(seconds):
    await asyncio.sleep(seconds)
    return seconds


async def arrivals(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number


class Room:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *error):
        await asyncio.sleep(0)


async def cancelled():
    await asyncio.sleep(60)


async def kitchen():
    tasks = [asyncio.create_task(cook(name, 4)) for name in ("pot", "pan", "wok")]
    done = await asyncio.gather(*tasks)
    early = asyncio.create_task(nap(0.3))
    late = await nap(0.4)
    async with Room():
        guests = [number async for number in arrivals(3)]
    task = asyncio.create_task(cancelled())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    return done, late, await early, guests


print(asyncio.run(kitchen()))
print(" ".join(ORDER))
