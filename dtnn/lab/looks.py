"""How the lab's panels look, on a light and on a dark page, and how they say what went wrong."""

import html

import ipywidgets as widgets

from ..sentence import noted, sentence
from .once import REPEAT, once

CSS = """<style>
.dtnn-panel { border: 1px solid var(--jp-border-color2, #ccc); border-radius: 4px; padding: 6px 8px; overflow: hidden; }
.dtnn-panel .jupyter-button { padding: 0 6px; }
.dtnn-panel button.jupyter-button:disabled, .dtnn-training button.jupyter-button:disabled { opacity: 1;
  background-color: var(--jp-layout-color2, #eee) !important; color: var(--jp-ui-font-color2, #555) !important; }
.dtnn-panel .widget-html-content, .dtnn-training .widget-html-content { line-height: 1.4; min-width: 0; }
.dtnn-panel .widget-tab-contents, .dtnn-training .widget-tab-contents { padding: 4px; }
.dtnn-training .widget-tab > .lm-TabBar .lm-TabBar-tab { flex: 1 1 auto; padding: 0 6px; min-width: 0; }
.dtnn-title { font-weight: 600; font-size: 13px; color: var(--jp-ui-font-color1, #222); line-height: 28px; padding: 0 6px 0 2px; }
.dtnn-faint { color: var(--jp-ui-font-color2, #555); font-size: 12px; line-height: 1.35; }
.dtnn-label { font-size: 12px; color: var(--jp-ui-font-color1, #222); border-bottom: 1px dotted var(--jp-border-color1, #999);
  cursor: help; }
.dtnn-wrong { color: var(--jp-ui-font-color1, #222); font-size: 12px; line-height: 1.35; white-space: pre-wrap;
  border-left: 3px solid var(--jp-error-color1, #B3261E); padding-left: 6px; margin: 2px 0; overflow-wrap: anywhere; }
.dtnn-bad input, .dtnn-bad select, .dtnn-bad textarea { border-color: var(--jp-error-color1, #B3261E) !important;
  box-shadow: inset 0 0 0 1px var(--jp-error-color1, #B3261E); }
.dtnn-help { cursor: help; }
.dtnn-layers { scrollbar-gutter: stable; }
.dtnn-layers > *, .dtnn-layer > *, .dtnn-layer .widget-hbox > * { flex-shrink: 0; }
.dtnn-layer button.jupyter-button { text-align: left; font-size: 12px; line-height: 24px; height: 24px; margin: 1px;
  padding: 0 5px; }
.dtnn-layer .dtnn-call { font-family: var(--jp-code-font-family, monospace); flex: 0 1 208px; }
.dtnn-layer .dtnn-facts { flex: 1 1 150px; min-width: 0; overflow: hidden; padding: 1px 2px 0 6px; }
.dtnn-layer button.dtnn-opened { font-weight: 600; box-shadow: inset 3px 0 0 var(--jp-brand-color1, #0072B2); }
.dtnn-layer .dtnn-lane-name { align-self: center; }
.dtnn-training .dtnn-state { align-self: center; }
.dtnn-studio { container: dtnn / inline-size; width: 100%; }
.dtnn-bar { padding: 2px 0; background: var(--jp-layout-color0, transparent); }
@container dtnn (max-width: 1372px) { .dtnn-training.dtnn-began { order: -1; flex-basis: 100% !important; } }
.dtnn-big .dtnn-training.dtnn-began { order: -1; }
.dtnn-smoothing { margin: 0 0 2px 12px !important; }
.dtnn-form { display: grid; grid-template-columns: repeat(auto-fit, minmax(205px, 1fr)); padding: 2px 4px 4px 12px; }
.dtnn-code textarea { font-family: var(--jp-code-font-family, monospace); font-size: 12px; }
.dtnn-table { max-width: 100%; font-size: 12px; color: var(--jp-ui-font-color1, #222); }
.dtnn-table table { display: block; overflow-x: auto; max-width: 100%; }
.dtnn-table td, .dtnn-table th { padding: 1px 8px 1px 0; text-align: left; white-space: nowrap; font-weight: normal; }
.dtnn-table th { color: var(--jp-ui-font-color2, #555); }
.dtnn-table p, .dtnn-table pre { margin: 4px 0; line-height: 1.35; white-space: pre-wrap; overflow-wrap: anywhere;
  color: inherit; }
.dtnn-answer { width: 792px; max-width: 100%; height: auto; }
.dtnn-big .dtnn-faint, .dtnn-big .dtnn-wrong, .dtnn-big .dtnn-title, .dtnn-big .dtnn-label, .dtnn-big .jupyter-button,
.dtnn-big .dtnn-layer button, .dtnn-big input, .dtnn-big select, .dtnn-big table, .dtnn-big textarea, .dtnn-big .dtnn-table,
.dtnn-big .widget-label, .dtnn-big .widget-readout, .dtnn-big .lm-TabBar-tabLabel, .dtnn-big .dtnn-line span,
.dtnn-big pre, .dtnn-big .widget-html-content { font-size: 17px !important; }
.dtnn-big .widget-tab > .lm-TabBar .lm-TabBar-tab { max-height: 34px; line-height: 32px; }
.dtnn-big .dtnn-live, .dtnn-big .dtnn-answer, .dtnn-big .dtnn-sheet { width: 100% !important; }
.dtnn-big .dtnn-small { width: 50% !important; }
.dtnn-big .dtnn-builder, .dtnn-big .dtnn-settings { flex-basis: 100% !important; }
.dtnn-big .dtnn-form { grid-template-columns: repeat(auto-fit, minmax(290px, 1fr)); }
.dtnn-big .dtnn-form .widget-html, .dtnn-big .dtnn-settings .widget-hbox > .widget-html:first-child {
  flex-basis: 150px !important; width: 150px !important; }
.dtnn-big .widget-dropdown { width: auto !important; }
.dtnn-big .dtnn-form .widget-dropdown { width: 130px !important; }
.dtnn-big .dtnn-layer .dtnn-call { flex-basis: 320px; }
.dtnn-big .jupyter-widget-Collapse-header { font-size: 17px; }
</style>"""
WRAP = {"display": "flex", "flex_flow": "row wrap", "align_items": "flex-start", "width": "100%"}


def style():
    """What goes into each panel once."""
    return widgets.HTML(CSS, layout={"display": "block", "height": "0", "margin": "0"})


def enlarged(box, big):
    """The box of a panel, with large letters if that is wanted; its pictures are as wide as the page."""
    return box.add_class("dtnn-big") if big else box


def title(text):
    """A heading."""
    return widgets.HTML(f'<span class="dtnn-title">{html.escape(text)}</span>', layout={"margin": "0"})


def faint(text):
    """Small print, as HTML."""
    return f'<span class="dtnn-faint">{text}</span>'


class Message:
    """A place where a panel says what went wrong there, in words; empty, it takes no room."""

    def __init__(self):
        self.box = widgets.HTML("", layout={"margin": "0", "display": "none", "width": "auto"}).add_class("dtnn-message")
        self.text = ""

    def say(self, error):
        """Show an error, or a text; "" takes it away."""
        self.text = in_words(error)
        self.box.value = f'<div class="dtnn-wrong">{html.escape(self.text)}</div>' if self.text else ""
        self.box.layout.display = "" if self.text else "none"


def in_words(error):
    """An error as its sentence; one that dtnn did not write is preceded by its kind.

    >>> in_words(ValueError("groups is 0; it must be at least 1")), in_words(KeyError("a"))
    ('groups is 0; it must be at least 1', "KeyError: 'a'")
    """
    if not isinstance(error, BaseException):
        return str(error)
    rank = getattr(error, "rank", None)
    who = "" if rank is None or f"rank {rank}" in str(error).lower() else f"rank {rank}: "
    plain = isinstance(error, ValueError | TypeError | RuntimeError | OSError) and str(error)
    return f"{who}{error}{noted(error)}" if plain else f"{who}{sentence(error)}"


def button(text, clicked, tip="", style="", within=REPEAT, **layout):
    """A button whose function is called with nothing, `once` for a double click."""
    made = widgets.Button(description=text, tooltip=tip, button_style=style, layout={"width": "auto", **layout})
    act = once(clicked, within)
    made.on_click(lambda _: act())
    return made
