"""The page that tidepool timeline writes, in a real browser: what it shows, and what mouse and keys do."""

import browser
import captures
import harness
from browser import needs_chromium
from harness import ToolTest


# One work, two submissions, a timer that re-arms, a wait, and a main thread that drains. The times are microseconds.
STORY = [f"{float(line.split(' ', 1)[0]) * 1000:.0f} {line.split(' ', 1)[1]}" for line in """\
0 1 work 0xa0 created site=/home/mira/src/parse.cpp:12
10 1 work 0xa0 submitted
12 1 call 0xb0 enter call=SubmitThreadpoolWork
14 1 call 0xb0 leave call=SubmitThreadpoolWork
20 1 work 0xa0 submitted
30 2 work 0xa0 enter site=/home/mira/src/parse.cpp:12
40 2 event 0x44 set
200 2 work 0xa0 leave
202 1 wait 0xd0 armed handle=0x44
210 2 work 0xa0 enter site=/home/mira/src/parse.cpp:12
260 3 wait 0xd0 enter site=/home/mira/src/watch.cpp:7
300 3 exception 0x0 thrown type=std::runtime_error
350 3 wait 0xd0 leave
400 2 work 0xa0 leave
410 1 work 0xa0 drain-begin cancel=1
420 1 work 0xa0 drain-end
500 1 timer 0xe0 created site=/home/mira/src/late.cpp:3
600 1 timer 0xe0 armed after_ns=100000 window_ms=0
50000 2 timer 0xe0 enter site=/home/mira/src/late.cpp:3
50100 2 timer 0xe0 rearm-suppressed
50900 2 timer 0xe0 leave
51000 1 work 0xa0 drain-owed site=/home/mira/src/parse.cpp:12""".splitlines()]


@needs_chromium
class Page(ToolTest):
    def setUp(self):
        super().setUp()
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])

    def open(self, contents, status=0):
        self.write("capture.txt", contents)
        result = self.run_tool("timeline", "capture.txt")
        self.assertEqual(result.status, status, result.err)
        self.browser.open(self.path("capture.html"))

    def open_story(self):
        self.open(captures.text_of(STORY, threads={1: "program"}))

    def ask(self, expression):
        return self.browser.evaluate(expression)

    def view(self):
        return self.ask("[tidepool.view.begin, tidepool.view.end]")

    def length(self):
        begin, end = self.view()
        return end - begin

    def text(self, selector):
        return self.ask(f"document.querySelector({selector!r}).innerText")

    def place_of(self, span):
        """The middle of a span in the window."""
        return self.ask(f"""(() => {{
            const t = tidepool, box = document.getElementById("canvas").getBoundingClientRect();
            const lane = t.layout.laneOf(t.timeline, {span});
            const x = (t.view.x(t.timeline.spans.begin[{span}]) + t.view.x(t.timeline.spans.end[{span}])) / 2;
            return [box.x + x, box.y + lane.y + lane.height / 2 - t.tracks.scrollTop];
        }})()""")

    def span_named(self, label, number=0):
        """The number of the span; the first of those with this label, or another one."""
        return self.ask(f"""Array.from({{length: tidepool.timeline.spanCount}}, (_, i) => i)
            .filter((i) => tidepool.timeline.labelOfSpan(i) === {label!r})[{number}]""")

    def selected(self):
        return self.ask("tidepool.selection && [tidepool.selection.what, tidepool.selection.index]")

    def pixels_of(self, colour):
        """How many pixels of the canvas have just this colour of the style sheet."""
        return self.ask(f"""(() => {{
            tidepool.draw();
            const probe = document.createElement("canvas").getContext("2d");
            probe.fillStyle = tidepool.theme.colour({colour!r});
            probe.fillRect(0, 0, 1, 1);
            const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
            const canvas = document.getElementById("canvas");
            const {{data}} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) count += data[i] === r && data[i + 1] === g && data[i + 2] === b;
            return count;
        }})()""")

    # ---- what is shown ---------------------------------------------------------------------------

    def test_it_shows_threads_callbacks_and_a_summary_and_loads_nothing(self):
        self.open_story()
        self.assertEqual(self.browser.requests, ["file://" + self.path("capture.html")])
        self.assertEqual(self.ask("document.title"), "capture.txt – tidepool timeline")
        labels = self.ask("[...document.querySelectorAll('.label')].map((label) => label.innerText.split('\\n')[0])")
        self.assertEqual(labels, ["program", "pool worker", "pool worker"])
        tiles = dict(self.ask("[...document.querySelectorAll('.tile')].map((tile) => [tile.querySelector('.name').innerText,"
                              "tile.querySelector('.value').innerText])"))
        self.assertEqual(tiles, {"Process": "harbour", "Duration": "51 ms", "Records": "22", "Threads": "3", "Callbacks": "4",
                                 "Stalls": "1", "Exceptions": "1", "Drains owed": "1", "Re-arms suppressed": "1"})
        for colour in ("timer", "stall-flag", "owed", "suppressed", "exception", "wait-2"):
            self.assertGreater(self.pixels_of(colour), 5, colour)
        self.assertFalse(self.ask("document.getElementById('problems').innerText"))

    def test_spans_are_drawn_in_the_colours_of_their_kinds_once_they_are_wide_enough(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 450000)")
        for colour in ("work", "wait", "drain", "call", "wait-0"):
            self.assertGreater(self.pixels_of(colour), 20, colour)
        self.assertEqual(self.pixels_of("timer"), 0)

    def test_it_follows_the_preference_for_dark(self):
        self.open_story()
        self.browser.prefer("light")
        self.browser.settle()
        light = self.ask("getComputedStyle(document.body).backgroundColor")
        self.browser.prefer("dark")
        self.browser.wait_for(f"getComputedStyle(document.body).backgroundColor !== {light!r}", "dark page")
        self.browser.settle()
        self.assertEqual(self.ask("tidepool.theme.colour('paper')"), "#171d24")
        self.assertGreater(self.pixels_of("paper"), 10000)

    def test_a_narrow_window_needs_no_scrolling_sideways(self):
        self.browser.resize(400, 760)
        self.open_story()
        self.browser.wait_for("tidepool.painter.width < 400", "narrow drawing")
        self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), 400)
        self.browser.click(*self.place_of(self.span_named("timer late.cpp:3")))
        self.assertIn("timer late.cpp:3", self.text("#details h2"))

    def test_one_without_records_says_so(self):
        self.open(captures.text_of([]))
        self.assertIn("The capture holds no records.", self.text("#problems"))
        self.assertIn("There is nothing to draw", self.text(".nothing"))
        for key in "wsad0nm,.":
            self.browser.key(key)
        self.browser.click(700, 500)
        self.assertIsNone(self.selected())

    def test_a_damaged_one_says_what_is_wrong_and_shows_the_rest(self):
        lines = captures.text_of(STORY).split(b"\n")
        self.open(b"\n".join(lines[:-6]), status=1)
        self.assertIn("The capture is cut off", self.text("#problems .problem"))
        self.assertIsNotNone(self.span_named("wait watch.cpp:7"))

    def test_text_of_the_capture_stays_text(self):
        hostile = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
        self.open(captures.text_of([f"1000 1 work 0x1 enter site=/a/{hostile}:1", "900000 1 work 0x1 leave",
                                    f"950000 1 exception 0x0 thrown type={hostile}"], threads={1: hostile}))
        self.assertEqual(self.text(".label .thread-name"), hostile)
        self.browser.click(*self.place_of(0))
        self.assertIn("onerror=alert(1)", self.text("#details"))
        self.browser.click_on(".tile[title]")
        self.assertIn(hostile, self.text("#details"))
        self.assertEqual(self.ask("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.requests, ["file://" + self.path("capture.html")])

    # ---- moving ----------------------------------------------------------------------------------

    def test_the_wheel_zooms_at_the_pointer(self):
        self.open_story()
        x, y = self.place_of(self.span_named("timer late.cpp:3"))
        at = self.ask(f"tidepool.view.time({x} - document.getElementById('canvas').getBoundingClientRect().x)")
        before = self.length()
        self.browser.wheel(x, y, -200)
        self.browser.wait_for(f"tidepool.view.length < {before / 1.5}", "closer view")
        now = self.ask(f"tidepool.view.time({x} - document.getElementById('canvas').getBoundingClientRect().x)")
        self.assertLess(abs(now - at), before * 0.01)
        near = self.length()
        self.browser.wheel(x, y, 100, modifiers=8)
        self.browser.wait_for(f"tidepool.view.begin > {at - before}", "view")
        self.assertAlmostEqual(self.length(), near, delta=1)

    def test_dragging_pans_and_with_shift_zooms_to_a_range(self):
        self.open_story()
        self.ask("tidepool.view.show(10e6, 20e6)")
        box = self.ask("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.x, r.y, r.width]; })()")
        per_pixel = 10e6 / box[2]
        self.browser.drag(box[0] + 500, box[1] + 100, box[0] + 300, box[1] + 100)
        self.assertAlmostEqual(self.view()[0], 10e6 + 200 * per_pixel, delta=per_pixel * 3)
        self.assertIsNone(self.selected(), "a drag is no click")
        begin = self.view()[0]
        self.browser.drag(box[0] + 100, box[1] + 100, box[0] + 300, box[1] + 100, modifiers=8)
        self.assertAlmostEqual(self.view()[0], begin + 100 * per_pixel, delta=per_pixel * 3)
        self.assertAlmostEqual(self.length(), 200 * per_pixel, delta=per_pixel * 4)

    def test_keys_zoom_and_pan(self):
        self.open_story()
        whole = self.length()
        for closer, wider in (("w", "s"), ("+", "-")):
            self.browser.key(closer)
            self.assertLess(self.length(), whole * 0.8)
            self.browser.key(wider)
            self.assertAlmostEqual(self.length(), whole, delta=1)
        for _ in range(4):
            self.browser.key("w")
        for right, left in (("d", "a"), ("ArrowRight", "ArrowLeft")):
            begin = self.view()[0]
            self.browser.key(right)
            self.assertGreater(self.view()[0], begin)
            self.browser.key(left)
            self.assertAlmostEqual(self.view()[0], begin, delta=2)
        self.browser.key("0")
        self.assertAlmostEqual(self.length(), whole, delta=1)

    def test_the_strip_at_the_top_moves_the_view(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 1e6)")
        x, y, width = self.ask("(() => { const r = document.getElementById('overview').getBoundingClientRect();"
                               "return [r.x, r.y + r.height / 2, r.width]; })()")
        self.browser.click(x + width / 2, y)
        self.assertAlmostEqual(sum(self.view()) / 2, 25.5e6, delta=3e5)

    # ---- selecting -------------------------------------------------------------------------------

    def test_a_click_shows_all_about_a_callback_and_its_object(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 450000)")
        self.browser.settle()
        span = self.span_named("work parse.cpp:12", 1)
        self.browser.click(*self.place_of(span))
        self.assertEqual(self.selected(), ["span", span])
        details = self.text("#details")
        for wanted in ("work parse.cpp:12", "callback on pool worker 2", "190 µs", "/home/mira/src/parse.cpp:12", "work 0xa0",
                       "submitted"):
            self.assertIn(wanted, details)
        facts = self.text("#details .facts").replace("\n", " ")
        self.assertIn("waited 190 µs since its submission", facts)
        actions = self.ask("[...document.querySelectorAll('.records .action')].map((action) => action.innerText)")
        self.assertEqual(actions, ["created", "submitted", "submitted", "enter", "leave", "enter", "leave", "drain-begin", "drain-end",
                                   "drain-owed"])
        self.assertEqual(self.ask("[...document.querySelectorAll('.records button')].findIndex((row) => row.ariaCurrent)"), 5)
        self.assertIn("work parse.cpp:12 on pool worker, 190 µs", self.text("#said"))
        self.browser.key("Escape")
        self.assertIsNone(self.selected())
        self.assertTrue(self.ask("document.getElementById('details').hidden"))

    def test_arrows_are_drawn_for_what_is_selected_and_lead_to_what_led_to_it(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 450000)")
        for colour in ("arrow-submit", "arrow-set"):
            self.assertEqual(self.pixels_of(colour), 0, "no arrow before something is selected")
        self.browser.click(*self.place_of(self.span_named("wait watch.cpp:7")))
        self.assertGreater(self.pixels_of("arrow-set"), 30)
        self.assertGreater(self.pixels_of("arrow-arm"), 10)
        self.assertEqual(self.pixels_of("arrow-submit"), 0)
        self.assertEqual(self.ask("[...document.querySelectorAll('.flow-name')].map((name) => name.innerText)"), ["armed", "signalled"])
        self.browser.click_on(".flows li:nth-child(2) button")
        self.assertEqual(self.selected(), ["record", 6])
        self.assertIn("event set", self.text("#details h2"))
        self.browser.click_on("#details .flows button")
        self.assertEqual(self.selected(), ["span", self.span_named("wait watch.cpp:7")])

    def test_the_longest_wait_and_the_stall_can_be_jumped_to(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 100000)")
        self.browser.click_on("#lists .list:nth-child(3) button")
        timer = self.span_named("timer late.cpp:3")
        self.assertEqual(self.selected(), ["span", timer])
        self.assertIn("49.3 ms since its due time", self.text("#details .facts"))
        begin, end = self.view()
        self.assertTrue(begin <= 50e6 and 50.9e6 <= end, (begin, end))
        self.browser.click_on(".tile.alarm")
        self.assertEqual(self.selected(), ["stall", 0])
        self.assertIn("Stall of 49.3 ms", self.text("#details h2"))
        self.browser.click_on("#details .flows button")
        self.assertEqual(self.selected(), ["span", timer])

    def test_keys_go_from_one_thing_to_the_next(self):
        self.open_story()
        first, second = self.span_named("work parse.cpp:12", 0), self.span_named("work parse.cpp:12", 1)
        timer = self.span_named("timer late.cpp:3")
        for key, wanted in ((".", first), (".", second), (".", timer), (",", second), ("o", first), ("p", second)):
            self.browser.key(key)
            self.assertEqual(self.selected(), ["span", wanted], key)
        self.browser.key("f")
        self.assertLess(self.length(), 190e3 * 2)
        self.browser.key("Escape")
        markers = [["record", 11], ["stall", 0], ["record", 19], ["record", 21]]
        for wanted in (*markers, markers[0]):
            self.browser.key("m")
            self.assertEqual(self.selected(), wanted)
        self.browser.key("n")
        self.assertEqual(self.selected(), markers[-1])

    def test_a_marker_can_be_clicked(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 450000)")
        self.browser.settle()
        x, y = self.ask("(() => { const t = tidepool, r = document.getElementById('canvas').getBoundingClientRect();"
                        "return [r.x + t.view.x(300000), r.y + t.layout.tracks[2].marker + 6]; })()")
        self.browser.click(x, y)
        self.assertEqual(self.selected(), ["record", 11])
        self.assertIn("std::runtime_error", self.text("#details"))

    def test_help_opens_and_closes(self):
        self.open_story()
        self.browser.key("?", shift=True)
        self.assertTrue(self.ask("document.getElementById('help').open"))
        self.assertIn("10 ms", self.text("#help"))
        self.browser.key("Escape")
        self.browser.wait_for("!document.getElementById('help').open", "closed help")

    # ---- searching -------------------------------------------------------------------------------

    def test_search_finds_kinds_sites_addresses_and_functions_and_jumps(self):
        self.open_story()
        self.browser.key("/")
        self.browser.type("parse.cpp")
        self.assertEqual(self.text("#found"), "4")  # two callbacks, a drain, and the mark of the drain owed
        works = [self.span_named("work parse.cpp:12", 0), self.span_named("work parse.cpp:12", 1)]
        for number, wanted in enumerate((works[0], works[1]), 1):
            self.browser.key("Enter")
            self.assertEqual(self.selected(), ["span", wanted])
            self.assertEqual(self.text("#found"), f"{number} of 4")
        self.browser.key("Enter", shift=True)
        self.assertEqual(self.selected(), ["span", works[0]])
        self.browser.key("Enter", shift=True)
        self.assertEqual(self.selected(), ["record", 21])
        self.browser.key("Escape")
        self.assertEqual(self.text("#found"), "")
        for words, count in (("0xD0", "1"), ("timer late", "2"), ("submitthread", "1"), ("drain work", "2"), ("event", "1"),
                             ("runtime_error", "1"), ("nonsense", "nothing"), ("work watch", "nothing")):
            self.browser.key("/")
            self.browser.type(words)
            self.assertEqual(self.text("#found"), count, words)
            self.browser.key("Escape")

    def test_what_does_not_match_is_dimmed(self):
        self.open_story()
        self.ask("tidepool.view.show(0, 450000)")
        before = self.pixels_of("work")
        self.browser.key("/")
        self.browser.type("watch")
        self.assertGreater(self.pixels_of("wait"), 100)
        self.assertEqual(self.pixels_of("work"), 0)
        self.browser.key("Escape")
        self.assertEqual(self.pixels_of("work"), before)

    # ---- size ------------------------------------------------------------------------------------

    def test_the_largest_capture_is_usable(self):
        self.open(captures.capture(65536))
        self.assertEqual(self.ask("tidepool.timeline.recordCount"), 65536)
        self.assertIn("before the first are lost", self.text("#problems"))
        self.assertGreater(self.pixels_of("stall-flag"), 500)
        self.browser.key("/")
        self.browser.type("retry.cpp:23")
        self.browser.key("Enter")  # the re-arm with which the capture begins
        self.browser.key("Enter")
        what, index = self.selected()
        self.assertEqual(what, "span")
        self.assertIn("timer retry.cpp:23", self.text("#details h2"))
        self.assertLessEqual(self.ask("document.querySelectorAll('.records li').length"), 100)
        self.browser.key("Escape")
        self.browser.key("f")
        begin, end = self.view()
        time = self.ask(f"tidepool.timeline.spans.begin[{index}]")
        self.assertTrue(begin < time < end)
        self.assertGreater(self.pixels_of("timer"), 50)
        frames = self.ask("tidepool.frames")
        for _ in range(12):
            self.browser.wheel(700, 600, 240)
        self.browser.wait_for("tidepool.view.length > tidepool.timeline.length", "whole view")
        self.assertGreater(self.ask("tidepool.frames"), frames)


if __name__ == "__main__":
    harness.main()
