"""A headless Chromium for the tests of the page: real mouse and keys, over the browser's own protocol on two pipes."""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import unittest

CHROMIUM = shutil.which("chromium")
TIME_OUT = float(os.environ.get("TIDEPOOL_TEST_TIME_OUT", 240))  # seconds; a failure, never a measurement

needs_chromium = unittest.skipUnless(CHROMIUM, "needs chromium")

# What has no letter of its own.
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


class Browser:
    """One page. Everything that goes wrong in it, errors and what its policy forbids, is in `errors`; `requests` are the
    addresses that it asked for."""

    def __init__(self, width=1400, height=900):
        self.profile = tempfile.mkdtemp(prefix="tidepool-chromium-")
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def arrange():  # the browser reads commands on descriptor 3 and answers on 4
            high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10) for descriptor in (to_browser, from_browser)]
            os.dup2(high[0], 3)  # which may have been the other one
            os.dup2(high[1], 4)

        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-extensions",
             "--hide-scrollbars", "--force-color-profile=srgb", f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, close_fds=False, preexec_fn=arrange)
        os.close(to_browser)
        os.close(from_browser)
        self.numbers = itertools.count(1)
        self.pending, self.events = b"", []
        self.errors, self.requests = [], []
        self.session, self.loaded = None, False
        targets = self.command("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.command("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- the protocol ----------------------------------------------------------------------------

    def command(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        deadline = time.monotonic() + TIME_OUT
        while True:
            answer = self.next_message(deadline, method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def next_message(self, deadline, awaited):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.from_browser], [], [], max(deadline - time.monotonic(), 0))
            data = os.read(self.from_browser, 1 << 16) if ready else b""
            if not data:
                self.log.seek(0)
                raise RuntimeError(f"no answer to {awaited}; the browser said: {self.log.read()[-2000:]}")
            self.pending += data
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, details = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            thrown = details["exceptionDetails"]
            self.errors.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif method == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.errors.append(details["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Page.javascriptDialogOpening":
            self.errors.append(f"a dialog: {details['message']}")
            self.command("Page.handleJavaScriptDialog", accept=True)

    # ---- the page --------------------------------------------------------------------------------

    def open(self, path):
        self.errors.clear()
        self.requests.clear()
        self.loaded = False
        self.command("Page.navigate", url="file://" + path)
        deadline = time.monotonic() + TIME_OUT
        while not self.loaded:
            self.note(self.next_message(deadline, "loading"))
        self.wait_for("document.documentElement.dataset.ready === 'yes'", "page that is ready")

    def evaluate(self, expression):
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, condition, what):
        deadline = time.monotonic() + TIME_OUT
        while not self.evaluate(f"Boolean({condition})"):
            if self.errors:
                raise AssertionError(f"no {what}: {self.errors}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what} in time")

    def settle(self):
        """Until what was asked for has been drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def resize(self, width, height, scale=1):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        self.settle()
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

    # ---- the hands -------------------------------------------------------------------------------

    def mouse(self, kind, x, y, **more):
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for number in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)
        self.settle()

    def click_on(self, selector):
        """The middle of the first element that matches."""
        x, y = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView("
                             "{block: 'nearest'}); const r = e.getBoundingClientRect();"
                             "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        self.click(x, y)

    def drag(self, x, y, to_x, to_y, modifiers=0):
        self.mouse("mouseMoved", x, y, modifiers=modifiers)
        self.mouse("mousePressed", x, y, button="left", clickCount=1, modifiers=modifiers)
        for part in (0.5, 1):
            self.mouse("mouseMoved", x + (to_x - x) * part, y + (to_y - y) * part, button="left", modifiers=modifiers)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1, modifiers=modifiers)
        self.settle()

    def wheel(self, x, y, down, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=down, modifiers=modifiers)
        self.settle()

    def key(self, key, shift=False):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = KEYS.get(key, ord(key.upper()) if key.isalnum() and len(key) == 1 else 0)
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.command("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def type(self, text):
        for letter in text:
            self.key(letter)
