"""Pictures of runs: records in, matplotlib Axes out.

`curves` (loss, accuracy), `gradient_curve`, `overlay` (curves of several runs), `by_rank` (a line for each rank), `breakdown`
(each rank's time; of `recent` records that of now), `time_by_rank` (the same step by step),
`scaling` (a study's speed-up), `picture` and `figure` (a whole run in one), `Live` (a run as it happens), `Timeline` and `gantt`
(a step, layer by layer and message by message),
`network` (a network to scale), `messages` (a round of an all-reduce), `plane` (points, their ranks, and what a network says of
each place), `descent` (two weights over the surface of their loss), `shards` (which rank has which sample).
From arrays: `confusion`, `histograms`, `tiles`; from a model: `dtnn.views`.
`columns` gives the numbers behind whatever was drawn; `totals` those of the bars, `report` a run as text.
"""

from .breakdown import breakdown
from .by_rank import by_rank
from .columns import columns
from .confusion import confusion
from .curves import curves
from .descent import descent
from .gantt import gantt
from .gradient_curve import gradient_curve
from .gradients import gradient_cosines, gradient_norms, gradients_figure
from .histograms import histograms
from .live import Live
from .messages import messages
from .network import network
from .overlay import overlay
from .picture import figure, picture
from .plane import plane
from .report import report
from .scaling import efficiency, scaling, study_figure, time_per_step
from .shards import class_balance, shards
from .tiles import tiles
from .time_by_rank import recent, time_by_rank
from .timeline import Timeline
from .totals import totals

__all__ = [
    "Live",
    "Timeline",
    "breakdown",
    "by_rank",
    "class_balance",
    "columns",
    "confusion",
    "curves",
    "descent",
    "efficiency",
    "figure",
    "gantt",
    "gradient_cosines",
    "gradient_curve",
    "gradient_norms",
    "gradients_figure",
    "histograms",
    "messages",
    "network",
    "overlay",
    "picture",
    "plane",
    "recent",
    "report",
    "scaling",
    "shards",
    "study_figure",
    "tiles",
    "time_by_rank",
    "time_per_step",
    "totals",
]
