"""The page of --http-port in headless Chromium, through chromedriver (WebDriver, which is JSON over HTTP).

browse.py HTTP_PORT PORT FOLDER: writes pictures of the page into the folder. To have the server killed or started again
it prints "kill" or "restart" and waits for a line.
"""

import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

PATIENCE = 30  # seconds for anything that has to come
HOSTILE = """<img src=x onerror="document.title='hit'">'\\"\N{GRINNING FACE}"""
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# How wide the page is when each paragraph is one word longer than a line, as the path of a log may be.
LONG_WORDS = """const all = [...document.querySelectorAll('p')], texts = all.map((it) => it.textContent);
for (const it of all) it.textContent = '/' + 'directory'.repeat(30);
const wide = document.documentElement.scrollWidth;
all.forEach((it, index) => it.textContent = texts[index]);
return wide"""
ENTER, TAB = "\ue007", "\ue004"


class Browser:
    """A session of a chromedriver of its own."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        log = folder / "chromedriver.log"
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}", f"--log-path={log}"], stdout=subprocess.DEVNULL)
        self.session = ""
        # as root, and where /dev/shm is small
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,900"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        until("chromedriver answers", lambda: self.ask("GET", "/status")["ready"])
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + made["sessionId"]

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        address = f"http://127.0.0.1:{self.port}{self.session}{path}"
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()}") from error

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, identifier):
        return self.run("return document.getElementById(arguments[0]).textContent", identifier)

    def state(self):
        return self.run("return document.getElementById('state').dataset.state")

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def focused(self):
        return self.run("return document.activeElement.id || document.activeElement.textContent.trim()")

    def command(self, name, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width, height):
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **sizes)

    def colours(self, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        import base64

        path.write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))

    def end(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.kill()


def until(what, holds):
    begun, last = time.monotonic(), None
    while time.monotonic() - begun < PATIENCE:
        try:
            if holds():
                return
        except (OSError, AssertionError) as error:
            last = error
        time.sleep(0.1)
    raise AssertionError(f"not in {PATIENCE} s: {what} ({last})")


def client(port, *statements):
    line = ["mariadb", "--no-defaults", "-uroot", "-h127.0.0.1", f"-P{port}", "--comments", "--default-character-set=utf8mb4"]
    return subprocess.Popen([*line, "-e", ";".join(statements)], stdout=subprocess.DEVNULL)


def order(word):
    print(word, flush=True)
    assert sys.stdin.readline(), "the server is gone"


def shows_numbers(browser, port):
    until("the page is up", lambda: browser.state() == "up")
    setup = "CREATE DATABASE shop", "CREATE TABLE shop.goods (id INT PRIMARY KEY, price INT, KEY never_used (price))", "INSERT INTO shop.goods VALUES (1, 1), (2, 2)"
    assert client(port, *setup).wait() == 0
    load = client(port, *["SELECT COUNT(*) FROM shop.goods"] * 4000)
    first_tile = "return document.querySelector('#tiles dd').textContent"
    until("statements are counted", lambda: browser.run(first_tile) not in ("–", "0", "0.0"))
    until("times are drawn", lambda: "95 %: " in browser.text("charts") and "95 %: –" not in browser.text("charts"))
    points = "return [...document.querySelectorAll('polyline')].filter((line) => line.getAttribute('points')).length"
    until("lines are drawn", lambda: browser.run(points) >= 10)
    assert load.wait() == 0


def shows_text_as_text(browser, port):
    statement = f"SELECT SLEEP(20) /* {HOSTILE} */"
    sleeper = client(port, statement)
    until("the statement is shown", lambda: statement in browser.text("running"))
    assert browser.run("return document.images.length") == 0
    assert browser.run("return document.title") == "Palisade"
    sleeper.kill()


def shows_who_waits(browser, port):
    assert client(port, "SET GLOBAL slow_query_log = ON", "SET long_query_time = 0", f"SELECT 7 /* {HOSTILE} */").wait() == 0
    holder = client(port, "BEGIN", "UPDATE shop.goods SET price = 3 WHERE id = 1", "SELECT SLEEP(25)")
    until("the lock is held", lambda: "SLEEP(25)" in browser.text("running"))
    waiter = client(port, "UPDATE shop.goods SET price = 4 WHERE id = 1")
    until("who waits is shown", lambda: "shop.goods" in browser.text("blocked") and "price = 4" in browser.text("blocked"))
    until("the unused index is named", lambda: "never_used" in browser.text("unused") and "goods" in browser.text("indexes"))
    until("statements are summed up", lambda: "FROM `shop` . `goods`" in browser.text("statements"))
    # A statement shows its sample when it is opened, also after the table was drawn anew.
    browser.run("document.querySelector('#statements summary').click()")
    sample = "const pre = document.querySelector('#statements details[open] pre'); return pre ? pre.textContent.length : 0"
    until("the sample is shown", lambda: browser.run(sample) > 0)
    plan = "const pre = document.querySelector('#statements details[open] pre.plan'); return pre ? pre.textContent : ''"
    until("a plan is shown", lambda: browser.run(plan).startswith("-> ") or browser.run(plan).startswith("No plan: "))
    counted = "[...document.querySelectorAll('#statements summary')].find((it) => it.textContent.includes('FROM `shop` . `goods`'))"
    browser.run(f"{counted}.click()")
    its_plan = f"return {counted}.parentNode.querySelector('pre.plan').textContent"
    until("the plan of the statement is shown", lambda: "goods" in browser.run(its_plan))
    browser.run(f"{counted}.click(); document.querySelector('#statements summary').parentNode.open = true")
    browser.run("drawTable('statements', [{ schema: 's', digest: document.querySelector('#statements summary').textContent, "
                "sample: '<b>x</b>', count: 1, seconds: 1 }])")
    assert browser.run("return document.querySelector('#statements details[open] pre').textContent") == "<b>x</b>"
    assert browser.run("return document.querySelectorAll('#statements b').length") == 0
    until("the slowest are listed", lambda: "goods" in browser.text("slowest"))
    until("the slow log is shown", lambda: HOSTILE in browser.text("slow_log") and "From " in browser.text("slow_log-from"))
    assert browser.run("return document.images.length") == 0
    until("files are shown", lambda: "innodb_log_file" in browser.text("files"))
    until("the table is shown", lambda: "shop/goods" in browser.text("spaces"))
    return holder, waiter


def obeys_the_keyboard(browser):
    browser.run("document.activeElement.blur(); window.focus()")
    browser.press(TAB)
    assert browser.focused() == "Skip to the numbers", browser.focused()
    browser.press(TAB)
    assert browser.focused() == "pause", browser.focused()
    browser.press(ENTER)
    pressed = "return document.getElementById('pause').getAttribute('aria-pressed')"
    assert browser.run(pressed) == "true"
    browser.press(ENTER)
    assert browser.run(pressed) == "false"


def fits(browser, folder):
    for name, scheme, width, height in [("light", "light", 1280, 900), ("dark", "dark", 1280, 900), ("phone", "dark", 390, 844)]:
        browser.resize(width, height)
        browser.colours(scheme)
        until("the page is up", lambda: browser.state() == "up")
        wide = browser.run(LONG_WORDS)
        assert wide <= width, f"{wide} pixels on {width}"
        browser.picture(folder / f"{name}.png")
    browser.resize(1280, 900)


def outlives_the_server(browser):
    order("kill")
    until("the page says that the server is gone", lambda: browser.state() == "down")
    assert browser.text("state").startswith("No answer since"), browser.text("state")
    order("restart")
    until("the page is up again", lambda: browser.state() == "up")
    assert "up 0 s" in browser.text("about") or " s" in browser.text("about"), browser.text("about")


def main():
    http_port, port, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser(folder)
    try:
        browser.ask("POST", "/url", {"url": f"http://127.0.0.1:{http_port}/"})
        shows_numbers(browser, port)
        shows_text_as_text(browser, port)
        busy = shows_who_waits(browser, port)
        obeys_the_keyboard(browser)
        fits(browser, folder)
        told = [entry for entry in browser.ask("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]
        assert not told, told
        outlives_the_server(browser)
        for one in busy:
            one.kill()
    finally:
        browser.end()
    print("numbers, hostile text, locks, keyboard, sizes, a server that comes back: ok", flush=True)


main()
