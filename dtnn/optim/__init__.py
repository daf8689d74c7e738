"""How weights change: optimizers, which are frozen settings, and schedules, which are functions of the progress."""

from ..absent import absent
from .adagrad import Adagrad
from .adam import Adam
from .adamw import AdamW
from .lamb import LAMB
from .lars import LARS
from .legw import legw as legw
from .nadam import Nadam
from .optimizer import Optimizer as Optimizer
from .plateau import plateau as plateau
from .progress import Progress as Progress
from .rmsprop import RMSProp
from .scaled import scaled as scaled
from .schedule import schedule as schedule
from .schedules import constant as constant
from .schedules import cosine as cosine
from .schedules import every_n_epochs as every_n_epochs
from .schedules import one_cycle as one_cycle
from .schedules import poly as poly
from .schedules import step as step
from .schedules import warm_up as warm_up
from .sgd import SGD

# What `fit(optimizer="...")` may name, and what an error about another name lists: optimizers only.
__all__ = ["LAMB", "LARS", "SGD", "Adagrad", "Adam", "AdamW", "Nadam", "RMSProp"]


def __getattr__(name):
    raise absent(__name__, name, {name for name in globals() if not name.startswith("_")})
