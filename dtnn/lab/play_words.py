"""`play_words`: where a training in the plane stands, in words."""

from .. import phrases
from ..parallel import AllReduce


def play_words(play):
    """Steps, loss, strategy, batch, bytes; of the network of two weights also the border that it draws.

    Parameters
    ----------
    play : Play

    Returns
    -------
    str

    Examples
    --------
    >>> from dtnn.lab import Playground
    >>> playground = Playground("circle", ranks=2)
    >>> play_words(playground.play)[:21]
    'step 0 · no step yet '
    >>> playground.close()
    """
    loss = play.losses.last if play.step else play.loss_at(play.mean_weights()[None])[0]
    begun = "" if play.step else "no step yet · "
    strategy = "AllReduce" if isinstance(play.strategy, AllReduce) else repr(play.strategy)
    batch = f"batch {play.batch}: {play.batch / (play.ranks - play.servers):.3g} a rank"
    sent = f" · {phrases.size(play.sent)} sent a step and rank" if play.step else ""
    server = " · rank 0 is the server, and does not train" if play.servers else ""
    two = f"\n{play.net.pair.border(*play.mean_weights())}" if play.net.pair else ""
    return f"step {play.step} · {begun}loss {loss:.3f} · {strategy} · {batch}{sent}{server}{two}"
