"""Each diagnosis on records that were made for it."""

import math
import time

import pytest

from dtnn import Model, inject
from dtnn.comm import run_threads
from dtnn.explain import explain
from dtnn.nn import Flatten, Layer, Linear
from dtnn.parallel import ParameterServer
from dtnn.records import Clock, Epoch, Ledger, Place, Resumed, Span, Start, Step, Trace
from dtnn.training import train
from tests.tracing.made import run_of
from tests.training.test_train import rows

STEPS = 100
USUAL = {"data": 0.02, "forward": 0.3, "backward": 0.58, "wait": 0.0, "transfer": 0.03, "update": 0.03}


def ledger(rank, samples=3200, sent=24_682_400, **parts):
    """One rank's hundred steps."""
    seconds = {**USUAL, **parts}
    hidden = seconds.pop("hidden", 0.0)
    other = seconds.pop("other", 0.0)
    return Ledger(
        rank, STEPS, STEPS, samples, sent, pack=seconds.pop("pack", 0.0), hidden=hidden, time=0.0,
        seconds=sum(seconds.values()) + other + parts.get("pack", 0.0), **seconds,
    )  # fmt: skip


def start(ranks=2, **settings):
    return Start(0.0, ranks, {"batch_size": 64, "strategy": "AllReduce(algorithm='native')", **settings})


def places(hosts, cores=8, threads=1):
    return [Place(rank, {"host": host, "cores": cores, "numba_threads": threads}) for rank, host in enumerate(hosts)]


def first(told):
    return told.findings[0].kind, told.findings[0].text, told.advice


def test_one_slow_rank_is_named_with_numbers():
    told = explain([start(), *places(["a", "b"]), ledger(0, wait=0.5), ledger(1, backward=1.08)])
    kind, text, advice = first(told)
    assert kind == "imbalance"
    assert "Rank 1 is the slowest: 14 ms of its own work a step, the other rank 9.0 ms" in text
    assert "waits 5.0 ms a step" in text
    assert "busy on b, where rank 1 runs" in advice


def test_a_rank_with_more_samples_is_told_to_have_fewer():
    records = [start(3), ledger(0, 2100, wait=0.3), ledger(1, 2100, wait=0.3), ledger(2, 3200, backward=0.88)]
    kind, _, advice = first(explain(records))
    assert kind == "imbalance"
    assert "same number of samples: rank 2 has 32.0 a step; try batch_size=75" in advice


def test_a_rank_with_fewer_threads_is_told_so():
    told = places(["a", "b"], threads=2)
    told[1] = Place(1, {**told[1].machine, "numba_threads": 1})
    _, _, advice = first(explain([start(), *told, ledger(0, wait=0.5), ledger(1, backward=1.08)]))
    assert "Give rank 1 as many threads as the others: it has 1" in advice


def test_more_ranks_than_cores_are_too_many():
    _, _, advice = first(explain([start(), *places(["a", "a"], cores=1), ledger(0, wait=0.5), ledger(1, backward=1.08)]))
    assert advice == "Use fewer ranks: a has 2 ranks on 1 core."


def test_ranks_that_take_turns_are_no_imbalance():
    kind, text, advice = first(explain([start(), *places(["a", "b"]), ledger(0, wait=0.4), ledger(1, wait=0.35)]))
    assert kind == "jitter"
    assert "no rank is always the slowest" in text
    assert "3.8 ms a step" in text or "3.7 ms a step" in text
    assert "larger batches" in advice


def test_traced_steps_say_who_came_last():
    made = run_of(ranks=2, steps=range(5), late={1: 0.001})
    _, text, _ = first(explain([*made, ledger(0, wait=0.5), ledger(1, backward=1.08)]))
    assert "(it came last in 5 of 5 traced steps)" in text


@pytest.mark.parametrize(("uncertainty", "words"), [(0.004, "known to ± 4.0 ms only"), (math.inf, "could not be compared")])
def test_clocks_that_are_not_good_enough_are_told(uncertainty, words):
    clock = Clock(1, 3.0, uncertainty, 0.0, 0.0)
    _, text, _ = first(explain([start(), clock, ledger(0, wait=0.5), ledger(1, backward=1.08)]))
    assert words in text


def test_good_clocks_are_not_worth_a_word():
    _, text, _ = first(explain([start(), Clock(1, 3.0, 1e-5, 0.0, 0.0), ledger(0, wait=0.5), ledger(1, backward=1.08)]))
    assert "clock" not in text


def test_transfer_is_told_with_bytes_and_rate():
    kind, text, advice = first(explain([start(), *places(["a", "a"]), ledger(0, transfer=0.5), ledger(1, transfer=0.5)]))
    assert kind == "transfer"
    assert "247 kB a step takes 5.0 ms, 49.4 MB/s; all of it is exposed" in text
    assert "batch_size=128" in advice


def test_between_hosts_overlap_is_tried():
    _, _, advice = first(explain([start(), *places(["a", "b"]), ledger(0, transfer=0.5), ledger(1, transfer=0.5)]))
    assert "AllReduce(overlap=True)" in advice


def test_ranks_that_share_cores_are_too_many_for_their_messages_too():
    _, _, advice = first(explain([start(), *places(["a", "a"], cores=1), ledger(0, transfer=0.5), ledger(1, transfer=0.5)]))
    assert advice.startswith("Use fewer ranks: a has 2 ranks on 1 core.")


def test_an_algorithm_that_is_not_native_is_compared():
    settings = {"strategy": "AllReduce(algorithm=<function mine at 0x7f>, bucket_bytes=None)"}
    _, _, advice = first(explain([start(**settings), ledger(0, transfer=0.5), ledger(1, transfer=0.5)]))
    assert "Compare mine with" in advice


def test_much_data_may_be_compressed():
    large = [ledger(rank, sent=10**9, transfer=0.5) for rank in range(2)]
    assert "Compressed" in explain([start(), *places(["a", "a"]), *large]).advice


def test_hidden_and_exposed_communication_are_separate_numbers():
    settings = {"strategy": "AllReduce(algorithm='native', bucket_bytes=None, overlap=True)"}
    records = [start(**settings), *(ledger(rank, transfer=0.2, hidden=0.6) for rank in range(2))]
    kind, text, advice = first(explain(records))
    assert kind == "exposed"
    assert "Of 8.0 ms of communication a step, 6.0 ms went on behind backward (75 % hidden); 2.0 ms were exposed" in text
    assert "bucket_bytes" in advice


def test_packing_is_weighed_against_transfer():
    kind, text, advice = first(explain([start(), *(ledger(rank, pack=0.4) for rank in range(2))]))
    assert kind == "packing"
    assert "4.0 ms a step; their transfer 300 µs" in text
    assert "AllReduce()" in advice


def test_the_update_is_a_serial_part():
    kind, text, advice = first(explain([start(), *(ledger(rank, update=0.4) for rank in range(2))]))
    assert kind == "update"
    assert "4.0 ms a step on every rank alike" in text
    assert "Sharded()" in advice
    sharded = explain([start(strategy="Sharded()"), *(ledger(rank, update=0.4) for rank in range(2))])
    assert "larger batch" in sharded.advice
    assert "on every rank" not in explain([start(1), ledger(0, update=0.4)]).findings[0].text


def test_evaluation_between_epochs_is_seen():
    epochs = [Epoch(n, 100 * n, 6400, 1.0, 0.1, {}, 1.5 * n) for n in range(1, 5)]
    kind, text, advice = first(explain([start(1), ledger(0), *epochs]))
    assert kind == "evaluation"
    assert "500 ms go by" in text
    assert "validation_data=False" in advice


def test_a_pause_is_no_evaluation():
    epochs = [Epoch(number, 100 * number, 6400, 1.0, 0.1, {}, 61.0 * number) for number in (1, 2)]
    told = explain([start(), ledger(0), epochs[0], Resumed(150, 59.97, 110.0), epochs[1]])
    assert [finding.kind for finding in told.findings] == ["computing"]


def test_waiting_for_data_is_seen():
    kind, text, advice = first(explain([start(), *(ledger(rank, data=0.5) for rank in range(2))]))
    assert kind == "data"
    assert "5.0 ms a step" in text
    assert "uint8" in advice


def test_time_that_no_clock_was_on_is_that_of_callbacks():
    kind, text, advice = first(explain([start(1), ledger(0, other=0.6)]))
    assert kind == "other"
    assert "6.0 ms a step go by between the steps" in text
    assert "callbacks" in advice


def test_where_little_is_lost_computing_is_told_with_its_layers():
    told = explain([*run_of(ranks=2, steps=range(3)), ledger(0), ledger(1)])
    kind, text, advice = first(told)
    assert kind == "computing"
    assert "conv2d_2 36 % (450 µs)" in text
    assert "make conv2d_2 cheaper" in advice
    assert told.layers[0][:2] == ("conv2d_2", pytest.approx(0.00045))
    assert "Cluster(2)" in explain([start(1), ledger(0)]).advice


def test_a_rank_that_is_slowed_down_on_purpose_has_no_layer_of_that_name():
    spans = [Span(0, "linear_1", 0, 0.0, 0.25, "forward"), Span(0, "slowed down", 0, 0.25, 5.0, "forward")]
    assert explain([start(), ledger(0), Trace(0, 1, 0.0, 5.0, spans, [], 0.0)]).layers == [("linear_1", 0.25, 1.0)]


def test_the_largest_loss_comes_first_and_gives_the_advice():
    records = [start(), *places(["a", "b"]), ledger(0, transfer=0.2, wait=0.5), ledger(1, transfer=0.2, backward=1.08)]
    assert [found.kind for found in explain(records).findings] == ["imbalance", "transfer", "computing"]
    assert "busy" in explain(records).advice


def test_the_summary_is_the_whole():
    told = explain([start(), ledger(0), ledger(1)])
    assert told.summary.startswith("The time of 2 ranks, 9.6 ms a step: forward 31 %, backward 60 %")
    shares = [int(part.split(" %")[0].rsplit(" ", 1)[1]) for part in told.summary.split(": ")[1].split(",")]
    assert sum(shares) == pytest.approx(100, abs=3)


@pytest.mark.parametrize("records", [[], [start()], [start(), Step(1, 1, 2.0, 64, 0.1, 0.01, 0.0)]])
def test_nothing_measured_is_said(records):
    told = explain(records)
    assert "Nothing was measured" in str(told)
    assert "<ul></ul>" in told._repr_html_()


def test_as_text_and_as_a_page():
    told = explain([*run_of(ranks=2), ledger(0, wait=0.5), ledger(1, backward=1.08)])
    lines = str(told).splitlines()
    assert lines[0] == told.summary
    assert lines[-1] == f"To try: {told.advice}"
    page = told._repr_html_()
    assert page.count("<li>") == len(told.findings)
    assert "<td>conv2d_2</td>" in page
    assert repr(told) == str(told)


def test_names_of_ones_own_do_no_harm_on_a_page():
    settings = {"strategy": "AllReduce(algorithm=<function <lambda> at 0x7f>)"}
    page = explain([start(**settings), ledger(0, transfer=0.5), ledger(1, transfer=0.5)])._repr_html_()
    assert "<lambda>" not in page


def test_faults_on_purpose_are_told():
    assert explain([start(injected=["rank 1 computes 1.5 times as long"]), ledger(0)]).summary.endswith(
        "On purpose: rank 1 computes 1.5 times as long."
    )


SERVER = "ParameterServer(staleness=0)"


def test_a_server_is_no_fast_rank():
    """Two workers that are as fast as each other; the third rank has no samples, and waits for them."""
    records = [start(3, strategy=SERVER, batch_size=100), ledger(0, 0, data=0, forward=0, backward=0, wait=0.9)]
    told = explain([*records, ledger(1, 5000, wait=0.01), ledger(2, 5000)])
    assert "imbalance" not in [finding.kind for finding in told.findings]
    assert told.summary.startswith("The time of 2 ranks, 9.6 ms a step: forward 31 %")
    assert told.summary.endswith("Rank 0 trains nothing: it is a server, and not counted.")
    assert "batch_size" not in told.advice


def test_a_slow_worker_is_compared_with_the_other_workers():
    records = [start(3, strategy=SERVER, batch_size=100), *places("abc"), ledger(0, 0, data=0, forward=0, backward=0, wait=0.9)]
    kind, text, advice = first(explain([*records, ledger(1, 5000, wait=0.5), ledger(2, 5000, backward=1.08)]))
    assert kind == "imbalance"
    assert "Rank 2 is the slowest: 14 ms of its own work a step, the other rank 9.0 ms" in text
    assert "busy on c, where rank 2 runs" in advice


def test_a_server_that_gradients_queue_at_is_named():
    records = [start(3, strategy=SERVER), ledger(0, 0, data=0, forward=0, backward=0, wait=0.1)]
    kind, _, advice = first(explain([*records, ledger(1, transfer=0.7), ledger(2, transfer=0.7)]))
    assert (kind, advice.partition(",")[0]) == ("transfer", "All gradients go through rank 0")


def test_where_latency_is_all_fewer_exchanges_are_advised():
    told = [start(), *places(["a", "b"]), ledger(0, sent=25_000_000, transfer=2.0), ledger(1, sent=25_000_000, transfer=2.0)]
    kind, _, advice = first(explain(told))
    assert kind == "transfer"
    assert "LocalSGD(8)" in advice
    told[0] = start(strategy="LocalSGD(every=8, after=0)")
    assert "LocalSGD(16)" in first(explain(told))[2]


class Sleeps(Layer):
    """Computes as long on every rank, whatever else the machine does."""

    def forward(self, x, step=None):
        if step.training:
            time.sleep(0.004)
        return x, lambda dy: dy


@pytest.mark.parametrize("staleness", [None, 0, 1])
@pytest.mark.parametrize("ranks", [2, 3])
def test_real_runs_with_a_server(staleness, ranks):
    def job(comm, slow=None):
        model = Model(Flatten(), Sleeps(), Linear(3), input_shape=(4,))
        comm = inject.wrapped(comm, [{"slow": {ranks - 1: slow}}]) if slow else comm
        settings = dict(batch_size=100, strategy=ParameterServer(staleness), settings={"batch_size": 100})
        return list(train(comm, model, rows(2000), **settings))

    told = explain([record for records in run_threads(job, ranks) for record in records])
    assert "Rank 0 trains nothing" in told.summary
    assert "Rank 0 is" not in str(told)
    assert "batch_size" not in told.advice
    if ranks > 2:
        told = explain([record for records in run_threads(job, ranks, 4.0) for record in records])
        [found] = [finding for finding in told.findings if finding.kind == "imbalance"]
        assert f"Rank {ranks - 1} is the slowest" in found.text
