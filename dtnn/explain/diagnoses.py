"""The diagnoses: each a function of accounts that finds one way of losing time, and what to try against it."""

import re

from .. import phrases
from .finding import Finding

FEW = 0.02  # a difference between ranks below this share is none
SLOW, LONG = 2e7, 1e-3  # bytes a second, seconds: who takes longer, at less than that, waits for latency rather than bandwidth


def waiting(a):
    """Load imbalance, if one rank is slower than the others; jitter, if they take turns."""
    if len(a.trained) < 2 or not a.mean("wait"):
        return None
    own = {rank: a.own(rank) for rank in sorted(a.trained)}
    slowest = max(own, key=own.get)
    others = [seconds for rank, seconds in own.items() if rank != slowest]
    explained = sum(own[slowest] - seconds for seconds in others) / len(own)
    waits = {rank: account["wait"] / account["steps"] for rank, account in a.trained.items()}
    waited = sum(seconds for rank, seconds in waits.items() if rank != slowest) / len(others)
    if explained >= 0.5 * a.a_step("wait") and own[slowest] > (1 + FEW) * max(others) and waited > waits[slowest]:
        return _imbalance(a, own, slowest, sum(others) / len(others), waited)
    return _jitter(a)


def _imbalance(a, own, slowest, mean, waited):
    others = "the other rank" if len(own) == 2 else "the others"
    text = (
        f"Rank {slowest} is the slowest: {phrases.seconds(own[slowest])} of its own work a step, {others} "
        f"{phrases.seconds(mean)}. {others.capitalize()} wait{'s' * (len(own) == 2)} {phrases.seconds(waited)} a step for it"
        f"{_seen(a, slowest)}.{_doubt(a)}"
    )
    return Finding("imbalance", a.share("wait"), text, _against_imbalance(a, slowest))


def _seen(a, slowest):
    lasts = a.lasts()
    return f" (it came last in {lasts[slowest]} of {lasts.total()} traced steps)" if lasts.total() else ""


def _doubt(a):
    """A word on the clocks, where they are not good enough to tell waiting from transfer."""
    if a.uncertainty < 0.3 * a.a_step("wait"):
        return ""
    if a.uncertainty == float("inf"):
        return " But the ranks' clocks could not be compared, so what was waiting and what transfer is not known."
    return (
        f" But the hosts' clocks are known to ± {phrases.seconds(a.uncertainty)} only, so how much of it was waiting and how "
        f"much transfer is not certain."
    )


def _against_imbalance(a, slowest):
    samples = {rank: account["samples"] / account["steps"] for rank, account in a.trained.items()}
    most = max(number for rank, number in samples.items() if rank != slowest)
    if samples[slowest] > (1 + FEW) * most:
        whole = f"batch_size={-(-round(sum(samples.values())) // len(samples)) * len(samples)}"
        return f"Give all ranks the same number of samples: rank {slowest} has {samples[slowest]:.1f} a step; try {whole}."
    threads = {rank: machine.get("numba_threads") for rank, machine in a.machines.items()}
    if threads.get(slowest) and any((number or 0) > threads[slowest] for number in threads.values()):
        return f"Give rank {slowest} as many threads as the others: it has {threads[slowest]}."
    if a.crowded:
        return _fewer_ranks(*a.crowded)
    host = a.machines.get(slowest, {}).get("host")
    where = f"on {host}, where rank {slowest} runs" if host else f"where rank {slowest} runs"
    return f"Look for what else is busy {where}, or leave that rank out."


def _fewer_ranks(host, count, cores):
    return f"Use fewer ranks: {host or 'one host'} has {phrases.ranks(count)} on {phrases.counted(cores, 'core')}."


def _jitter(a):
    text = (
        f"The ranks wait {phrases.seconds(a.a_step('wait'))} a step for each other, and no rank is always the slowest: "
        f"they take turns.{_doubt(a)}"
    )
    advice = "Take larger batches: what is irregular weighs less in longer steps."
    return Finding("jitter", a.share("wait"), text, _fewer_ranks(*a.crowded) if a.crowded else advice)


def transfer(a):
    """Transfer that nothing hides."""
    if len(a.ranks) < 2 or not a.mean("transfer"):
        return None
    moved, hidden, sent = a.a_step("transfer"), a.a_step("hidden"), a.a_step("bytes")
    rate = f", {phrases.size(sent / moved)}/s" if sent and not hidden else ""
    if _overlaps(a):
        text = (
            f"Of {phrases.seconds(moved + hidden)} of communication a step, {phrases.seconds(hidden)} went on behind backward "
            f"({phrases.share(hidden / (moved + hidden))} hidden); {phrases.seconds(moved)} were exposed: nothing else went on."
        )
        return Finding("exposed", a.share("transfer"), text, _against_exposed(a))
    took = f"{phrases.seconds(moved)}{rate}"
    text = f"Moving and adding up {phrases.size(sent)} a step takes {took}; all of it is exposed, none hidden."
    return Finding("transfer", a.share("transfer"), text, _against_transfer(a))


def _overlaps(a):
    return "overlap=True" in str(a.settings.get("strategy", "")) or a.mean("hidden") > 0


def _against_exposed(a):
    batch = _twice_the_batch(a)
    return (
        f"{batch} then there is more backward to hide behind. Or try smaller pieces: AllReduce(overlap=True, bucket_bytes=...)."
    )


def _against_transfer(a):
    if a.crowded:
        return f"{_fewer_ranks(*a.crowded)} Who waits for a core doesn't move messages."
    strategy = str(a.settings.get("strategy", "AllReduce"))
    algorithm = re.search(r"algorithm=(<function \w+|'\w+')", strategy)
    if algorithm and "native" not in algorithm.group(1):
        name = algorithm.group(1).removeprefix("<function ").strip("'")
        return f"Compare {name} with the library's own reduction: strategy=AllReduce()."
    if a.servers:
        return f"All gradients go through rank {a.servers[0]}, one by one: strategy=AllReduce() divides that work among all."
    if strategy.startswith("AllReduce") and a.a_step("bytes") / a.a_step("transfer") < SLOW and a.a_step("transfer") > LONG:
        return "Most of it is starting to send: exchange more seldom. strategy=dtnn.parallel.LocalSGD(8) does in every 8th step."
    if every := re.match(r"LocalSGD\(every=(\d+)", strategy):
        return f"Average more seldom: strategy=dtnn.parallel.LocalSGD({2 * int(every.group(1))})."
    if len(a.hosts) > 1 and strategy.startswith("AllReduce"):
        return "Let communication go on behind backward: strategy=dtnn.parallel.AllReduce(overlap=True)."
    if a.a_step("bytes") > 4e6 and strategy.startswith("AllReduce"):
        return 'Send less: strategy=dtnn.parallel.Compressed("fp16") halves the bytes, LocalSGD(8) sends in every 8th step.'
    return f"{_twice_the_batch(a)} then the same bytes serve more samples."


def _twice_the_batch(a):
    batch = a.settings.get("batch_size")
    return f"Take a larger batch (batch_size={2 * batch});" if isinstance(batch, int) else "Take a larger batch;"


def packing(a):
    """Compression that takes longer than it is worth."""
    packed, moved = (phrases.seconds(a.a_step(phase)) for phase in ("pack", "transfer"))
    text = f"Packing and unpacking gradients takes {packed} a step; their transfer {moved}."
    return Finding("packing", a.share("pack"), text, "Compare with strategy=AllReduce(), which packs nothing.")


def update(a):
    """The part that does not become less with more ranks."""
    text = f"The update of the weights takes {phrases.seconds(a.a_step('update'))} a step"
    if len(a.ranks) < 2:
        return Finding("update", a.share("update"), f"{text}.", f"{_twice_the_batch(a)} fewer updates for the same samples.")
    text += " on every rank alike: a serial part, which more ranks don't shorten."
    if "Sharded" in str(a.settings.get("strategy", "")):
        return Finding("update", a.share("update"), text, f"{_twice_the_batch(a)} fewer updates for the same samples.")
    advice = "Let each rank update its own share of the weights: strategy=dtnn.parallel.Sharded()."
    return Finding("update", a.share("update"), text, advice)


def evaluation(a):
    """What happens between epochs."""
    seconds, part = a.between_epochs
    text = f"Between two epochs, mostly in evaluating, {phrases.seconds(seconds)} go by."
    advice = "Evaluate fewer rows (validation_data=(x[:1000], y[:1000])), or none (validation_data=False)."
    return Finding("evaluation", part, text, advice)


def data(a):
    """Fetching samples."""
    text = f"Gathering a batch takes {phrases.seconds(a.a_step('data'))} a step; the network waits for it."
    return Finding(
        "data", a.share("data"), text, "Augment less, or hand over images as uint8, a quarter of the bytes of float32."
    )


def other(a):
    """What no clock was on: callbacks, and who listens."""
    text = f"{phrases.seconds(a.a_step('other'))} a step go by between the steps: callbacks, and telling how it goes."
    return Finding("other", a.share("other"), text, "Let callbacks do less, or do it only now and then (every 100th step).")


def computing(a):
    """What all this is for; with what is dearest in it."""
    text = f"Computing takes {phrases.seconds(a.a_step('forward', 'backward'))} a step."
    layers = a.layers()
    if layers:
        listed = ", ".join(f"{name} {phrases.share(part)} ({phrases.seconds(seconds)})" for name, seconds, part in layers[:3])
        text += f" The dearest layers, of forward and backward together: {listed}."
    return Finding("computing", a.share("forward", "backward"), text, _for_computing(a, layers))


def _for_computing(a, layers):
    if len(a.ranks) == 1:
        return "Nearly all of it is computing, which ranks can share: cluster=dtnn.Cluster(2)."
    if a.crowded:
        return _fewer_ranks(*a.crowded)
    cheaper = f"; or make {layers[0][0]} cheaper" if layers else ""
    return f"Little is lost: more ranks will pay, as long as each has a core of its own{cheaper}."


LOSSES = (waiting, transfer, packing, update, evaluation, data, other)
