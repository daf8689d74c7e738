"""`blank_page`: a page of 1,000 pixels in a real browser."""

from contextlib import contextmanager


@contextmanager
def blank_page(chromium, height=900, **context):
    """The page, as long as it lasts; `context` is what Playwright lets be said of a browser's context."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser.new_context(viewport={"width": 1000, "height": height}, **context).new_page()
        finally:
            browser.close()
