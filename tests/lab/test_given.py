"""What a panel can't be begun with is told by dtnn, with the value, the nearest right one, or what would do."""

import io

import numpy as np
import pytest
from PIL import Image

import dtnn
from dtnn import lab
from dtnn.plots.axes import WIDTH

MODEL = "is no Model; give one, such as dtnn.zoo.lenet5(), or leave it out"


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: lab.AllReduceLab("rng"), ValueError, "algorithm='rng' is not known; did you mean 'ring'?"),
        (lambda: lab.AllReduceLab("qqq"), ValueError, "algorithm='qqq' is not known; there are 'central', "),
        (lambda: lab.AllReduceLab("qqq"), ValueError, "'tree', or a function of yours (comm, array)"),
        (lambda: lab.AllReduceLab(5), TypeError, "algorithm=5: give one of 'central', "),
        (lambda: lab.AllReduceLab(ranks=1), ValueError, "ranks=1: give a whole number of at least 2 and at most 16"),
        (lambda: lab.AllReduceLab(ranks=2.5), (TypeError, ValueError), "ranks=2.5: give a whole number"),
        (lambda: lab.AllReduceLab(ranks="4"), (TypeError, ValueError), "ranks='4': give a whole number"),
        (lambda: lab.AllReduceLab(length=0), ValueError, "length=0: give a whole number of at least 1 and at most 100000"),
        (lambda: lab.AllReduceLab(length="a"), (TypeError, ValueError), "length='a': give a whole number"),
        (lambda: lab.AllReduceLab(ranks_per_node=0), ValueError, "ranks_per_node=0: give a whole number of at least 1"),
        (lambda: lab.Playground("circles"), ValueError, "data='circles' is not known; did you mean 'circle'?"),
        (lambda: lab.Playground(3), TypeError, "data=3: give one of 'circle', 'xor', 'gauss', 'spiral'"),
        (lambda: lab.Playground(ranks=9), ValueError, "ranks=9: give a whole number of at least 1 and at most 8"),
        (lambda: lab.ClusterPanel(4), TypeError, "cluster=4 is no Cluster; did you mean dtnn.Cluster(4)?"),
        (lambda: lab.ClusterPanel(ranks=0), ValueError, "ranks=0: give a whole number of at least 1"),
        (lambda: lab.ClusterPanel(launcher="mpii"), ValueError, "launcher='mpii' is not known; did you mean 'mpi'?"),
        (
            lambda: lab.ClusterPanel(launcher="qqq"),
            ValueError,
            "'threads'; hand over another kind as cluster=...",
        ),
        (lambda: lab.Studio("lenet"), TypeError, "model='lenet' is no Model; did you mean dtnn.zoo.lenet5()?"),
        (lambda: lab.Studio(dtnn.zoo.mlp), TypeError, "did you mean dtnn.zoo.mlp()?"),
        (lambda: lab.Studio(3), TypeError, f"model=3 {MODEL}"),
        (lambda: lab.Studio(dtnn.data.mnist5k()), TypeError, "model=a Dataset is no Model; did you mean data=...?"),
        (lambda: lab.Studio(data="mnist"), TypeError, "data='mnist' is no Dataset; did you mean dtnn.data.mnist()?"),
        (lambda: lab.Studio(data=3), TypeError, "data=3 is no Dataset; give one, such as dtnn.data.mnist5k(), or a pair (x, y)"),
        (
            lambda: lab.Studio(cluster=dtnn.zoo.mlp()),
            TypeError,
            "is no Cluster; give one, such as dtnn.Cluster(2), or",
        ),
        (lambda: lab.Studio(big="yes"), TypeError, "big='yes': give True or False"),
        (lambda: lab.Builder("x"), TypeError, f"model='x' {MODEL}"),
        (lambda: lab.Builder().preset("lenet"), ValueError, "preset='lenet' is not known; did you mean 'lenet5'?"),
        (lambda: lab.Builder().add("Linear(3)", 1), IndexError, "no layer at place 1; there are 0: give 0 to 0"),
        (lambda: lab.Builder().remove("a"), TypeError, "place 'a' is no whole number; places are counted from 0"),
        (lambda: lab.Builder().remove(0), IndexError, "no layer at place 0; there are 0: add one first"),
        (lambda: lab.Builder().reshape(3.5), (TypeError, ValueError), "3.5"),
        (lambda: lab.Builder().reshape((0, 3)), (TypeError, ValueError), "(0, 3)"),
    ],
)
def test_what_can_not_be_is_told(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert text in str(caught.value)
    assert type(caught.value).__module__ == "builtins", "not ipywidgets' own kind of error"


def test_a_pair_of_arrays_is_a_data_set():
    studio = lab.Studio(data=(np.zeros((20, 8, 8, 1), np.uint8), np.arange(20) % 4))
    assert studio.data.input_shape == studio.builder.input_shape == (8, 8, 1)
    studio.close()


def test_a_function_may_be_the_labs_algorithm():
    def mine(comm, vector):
        comm.Allreduce(vector)

    bench = lab.AllReduceLab(mine, ranks=3)
    assert bench.controls.algorithm.value == "mine"
    assert bench.message.text == ""
    bench.close()


@pytest.mark.parametrize("make", [lab.AllReduceLab, lab.Playground, lab.ClusterPanel, lab.Studio])
def test_each_panel_has_large_letters_for_a_projector(make):
    small, large = make(), make(big=True)
    assert "dtnn-big" not in small.box._dom_classes
    assert "dtnn-big" in large.box._dom_classes
    small.close()
    large.close()
    with pytest.raises(TypeError, match="big=1: give True or False"):
        make(big=1)


def test_on_a_projector_pictures_have_more_pixels():
    large = lab.Studio(big=True)
    insights = large.training.insights
    assert insights.scale == insights.pane.scale == insights.model.scale == 1.5
    insights.tabs.selected_index = insights.tabs.titles.index("model")
    assert Image.open(io.BytesIO(insights.model.answer.picture.value)).width == round(1.5 * WIDTH)
    large.close()
