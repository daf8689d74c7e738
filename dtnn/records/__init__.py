"""What a run tells about itself: small frozen records, each one JSON object.

Training yields them, clusters carry them, plots draw them; nobody needs anything else.  A record with a
`rank` is told by that rank; one without is the same on all ranks, and rank 0 tells it.  Seconds are wall-clock
seconds, `time` is the moment of the record (seconds since 1970, on the clock of the host that made it).
"""

from .as_dict import KINDS, TYPES, from_dict, to_dict
from .course import Finish, Note, Paused, Place, Refused, Resumed, Start
from .gradients import Gradients, GradientValues
from .progress import Epoch, Ledger, Phase, Share, Step
from .recorder import Recorder
from .stop import Stop, check_text
from .trace import Clock, Message, Span, Trace
from .weights import Weights

__all__ = [
    "KINDS", "TYPES", "Clock", "Epoch", "Finish", "GradientValues", "Gradients", "Ledger", "Message", "Note", "Paused", "Phase",
    "Place", "Recorder", "Refused", "Resumed", "Share", "Span", "Start", "Step", "Stop", "Trace", "Weights", "check_text",
    "from_dict", "to_dict",
]  # fmt: skip
