"""What can be no job is told before it travels."""

import functools
import operator

import numpy as np
import pytest

import dtnn
from dtnn.cluster.check_job import check_job


def job(comm, width, *, depth=1):
    return width * depth


class Job:
    def __call__(self, comm, width):
        return width


@pytest.mark.parametrize(
    ("job", "args", "kwargs"),
    [
        (job, (3,), {}),
        (job, (3,), {"depth": 2}),
        (Job(), (3,), {}),
        (functools.partial(job, depth=2), (3,), {}),
        (lambda *args, **kwargs: None, (1, 2), {"a": 1}),
        (operator.itemgetter(0), (), {}),
        (print, (1, 2), {}),
        (dtnn.training.train, (1, 2), {"epochs": 3}),
    ],
)
def test_jobs(job, args, kwargs):
    check_job(job, args, kwargs)


@pytest.mark.parametrize(
    ("job", "args", "kwargs", "text"),
    [
        (3, (), {}, "a job is a function that takes a communicator, not 3"),
        (job, (), {}, "the job 'job' can't be called so: missing a required argument: 'width'; a communicator comes first"),
        (job, (3,), {"dept": 2}, "the job 'job' can't be called so: got an unexpected keyword argument 'dept'"),
        (lambda: 1, (), {}, r"the job '<lambda>' can't be called so: too many positional arguments; .*job\(comm, ...\)"),
        (Job(), (), {}, "the job 'Job' can't be called so"),
    ],
)
def test_no_jobs(job, args, kwargs, text):
    with pytest.raises(TypeError, match=text):
        check_job(job, args, kwargs)


def test_a_method_of_a_model_is_none():
    model = dtnn.Model(dtnn.nn.Linear(2), input_shape=(3,))
    with (
        dtnn.Cluster(1, "threads") as cluster,
        pytest.raises(TypeError, match=r"model.fit is no job of its own.*cluster=cluster\)"),
    ):
        cluster.run(model.fit, np.ones((2, 3), np.float32), [0, 1])
