"""tidepool timeline: what it writes and where, what it says of damaged captures, and the Chrome trace."""

import collections
import json
import os
import signal

import captures
import harness
from harness import ToolTest, needs_trace, posix_only

SMALL = captures.capture(2000, whole=True)


class Timeline(ToolTest):
    def timeline(self, *arguments, **options):
        return self.run_tool("timeline", *arguments, **options)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.root))

    def assert_refused(self, result, message, status=1):
        self.assertEqual(result.out, b"")
        self.assertEqual(result.err.decode().replace("\r\n", "\n"), f"tidepool timeline: {message}\n")
        self.assertEqual(result.status, status)

    def data_of(self, page):
        begin = page.index(b'<script id="capture" type="application/json">') + 45
        return json.loads(page[begin:page.index(b"</script>", begin)])


class TimelineOutput(Timeline):
    def test_the_page_is_written_beside_the_capture_and_the_result_names_it(self):
        self.write("folder/capture.txt", SMALL)
        result = self.timeline("folder/capture.txt")
        self.assertEqual((result.status, result.err), (0, b""))
        records = SMALL.count(b"\n") - SMALL[:SMALL.index(b"\nrecords\n")].count(b"\n") - 3
        self.assertTrue(result.out.startswith(b"folder/capture.html: %d records, " % records), result.out)
        page = self.read("folder/capture.html")
        self.assertTrue(page.startswith(b"<!doctype html>"))
        self.assertEqual(self.data_of(page)["file"], "capture.txt")
        self.assertEqual(len(self.data_of(page)["records"]["time"]), records)

    def test_another_ending_is_kept_in_the_name_of_the_page(self):
        self.write("trace.4711", SMALL)
        self.assertEqual(self.timeline("trace.4711").status, 0)
        self.assertEqual(self.files(), ["trace.4711", "trace.4711.html"])

    def test_the_page_goes_where_it_is_told_to(self):
        self.write("capture.txt", SMALL)
        self.assertEqual(self.timeline("capture.txt", "-o", "other.html").status, 0)
        self.assertEqual(self.files(), ["capture.txt", "other.html"])

    def test_standard_input_and_output_are_dashes(self):
        self.write("capture.txt", SMALL)
        to_file = self.timeline("capture.txt", "-o", "page.html")
        to_output = self.timeline("capture.txt", "-o", "-")
        self.assertEqual((to_file.status, to_output.status), (0, 0))
        self.assertEqual(to_output.out, self.read("page.html"))
        from_input = self.timeline("-", input=SMALL)
        self.assertEqual((from_input.status, from_input.err), (0, b""))
        self.assertEqual(self.data_of(from_input.out)["file"], "standard input")
        self.assertEqual(self.files(), ["capture.txt", "page.html"])

    def test_an_output_that_exists_is_replaced(self):
        self.write("capture.txt", SMALL)
        self.write("capture.html", b"x" * (1 << 20))
        self.assertEqual(self.timeline("capture.txt").status, 0)
        self.assertTrue(self.read("capture.html").endswith(b"</html>\n"))
        self.assertEqual(self.files(), ["capture.html", "capture.txt"])

    @posix_only
    def test_links_are_followed_and_permissions_kept(self):
        self.write("capture.txt", SMALL)
        self.write("there/page.html", b"old")
        os.chmod(self.path("there/page.html"), 0o640)
        os.symlink("there/page.html", self.path("link.html"))
        self.assertEqual(self.timeline("capture.txt", "-o", "link.html").status, 0)
        self.assertTrue(os.path.islink(self.path("link.html")))
        self.assertTrue(self.read("there/page.html").endswith(b"</html>\n"))
        self.assertEqual(os.stat(self.path("there/page.html")).st_mode & 0o777, 0o640)
        self.assertEqual(os.listdir(self.path("there")), ["page.html"])

    @posix_only
    def test_a_device_is_written_to_and_not_replaced(self):
        self.write("capture.txt", SMALL)
        self.assertEqual(self.timeline("capture.txt", "-o", "/dev/null").status, 0)
        self.assertFalse(os.path.isfile("/dev/null"))
        full = self.timeline("capture.txt", "-o", "/dev/full")
        self.assertEqual(full.status, 1)
        self.assertIn(b"tidepool timeline: cannot write to /dev/full: ", full.err)

    @posix_only
    def test_an_output_that_cannot_be_written_whole_is_left_as_it_was(self):
        import resource

        def allow_little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, then, and not the end
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))
        self.write("capture.txt", SMALL)
        self.write("capture.html", b"precious")
        result = self.timeline("capture.txt", preexec_fn=allow_little)
        self.assertEqual((result.status, result.out), (1, b""))
        self.assertIn(b"tidepool timeline: cannot write to capture.html: ", result.err)
        self.assertEqual(self.read("capture.html"), b"precious")
        self.assertEqual(self.files(), ["capture.html", "capture.txt"])

    def test_a_folder_that_is_not_there_is_reported(self):
        self.write("capture.txt", SMALL)
        result = self.timeline("capture.txt", "-o", "none/page.html")
        self.assertEqual((result.status, result.out), (1, b""))
        self.assertIn(b"tidepool timeline: cannot write to none/page.html: ", result.err)

    def test_the_capture_itself_is_not_overwritten(self):
        self.write("capture.txt", SMALL)
        self.assert_refused(self.timeline("capture.txt", "-o", "./capture.txt"),
                            "./capture.txt is the capture itself, and is left as it is")
        self.assertEqual(self.read("capture.txt"), SMALL)
        self.assertEqual(self.files(), ["capture.txt"])

    def test_a_mistake_on_the_command_line_is_reported(self):
        for arguments in ([], ["a", "b"], ["a", "-o", "x", "--chrome", "y"], ["a", "--frobnicate"]):
            result = self.timeline(*arguments)
            self.assertEqual((result.status, result.out), (2, b""), arguments)
            self.assertIn(b"Try 'tidepool timeline --help'.", result.err)


class TimelineOfAProgram(Timeline):
    @needs_trace
    def test_a_capture_that_a_program_wrote_is_whole_and_every_callback_in_it_has_its_cause(self):
        for i in range(20):
            self.write(f"tree/{i}", b"x" * 1000)
        self.write("tree/large", bytes(3 << 20))
        environment = {**os.environ, "TIDEPOOL_TRACE": "all", "TIDEPOOL_TRACE_FILE": "capture.txt"}
        self.assertEqual(self.sum("tree", env=environment).status, 0)
        result = self.timeline("capture.txt")
        self.assertEqual((result.status, result.err), (0, b""))
        data = self.data_of(self.read("capture.html"))
        spans, objects, strings = data["spans"], data["objects"], data["strings"]
        caused = set(data["flows"]["span"])
        callbacks = collections.Counter()
        for span, kind in enumerate(spans["type"]):
            self.assertEqual(spans["flags"][span] & 3, 0, "it begins and ends")
            if data["spanTypes"][kind] == "callback":
                self.assertIn(span, caused)
                callbacks[strings[objects["kind"][spans["object"][span]]]] += 1
        self.assertGreaterEqual(callbacks["work"], 1)
        self.assertGreaterEqual(callbacks["io"], 12)
        self.assertEqual(sum(objects["created"]), len(objects["created"]))
        self.assertEqual(sum(objects["destroyed"]), len(objects["destroyed"]))
        self.assertIn("call", {data["spanTypes"][kind] for kind in spans["type"]})


class TimelineRefusals(Timeline):
    def test_what_is_no_capture_is_refused_with_the_reason_and_nothing_is_written(self):
        not_one = 'is not a capture: its first line is not "tidepool capture 1"'
        for name, contents, reason in (
                ("notes.txt", b"Dear diary\n", not_one),
                ("binary", bytes(range(256)) * 4000, not_one),
                ("zeros", bytes(3 << 20), not_one),
                ("empty.txt", b"", "is empty, and so no capture"),
                ("newer.txt", SMALL.replace(b"capture 1", b"capture 2", 1), "is a capture of version 2; this tidepool reads version 1")):
            self.write(name, contents)
            self.assert_refused(self.timeline(name), f"{name} {reason}")
            self.assertEqual(self.files(), [name])
            os.remove(self.path(name))
        self.assert_refused(self.timeline("-", input=b"what\n"), f"standard input {not_one}")

    def test_an_output_is_kept_when_the_input_is_no_capture(self):
        self.write("notes.txt", b"Dear diary\n")
        self.write("notes.html", b"precious")
        self.assertEqual(self.timeline("notes.txt").status, 1)
        self.assertEqual(self.read("notes.html"), b"precious")

    def test_a_missing_file_and_a_folder_are_reported(self):
        missing = self.timeline("none.txt")
        self.assertEqual((missing.status, missing.out), (1, b""))
        self.assertIn(b"tidepool timeline: none.txt cannot be read: ", missing.err)
        os.mkdir(self.path("folder"))
        self.assert_refused(self.timeline("folder"), "folder is a folder, not a file")

    @posix_only
    def test_what_has_no_end_is_refused_at_its_beginning(self):
        with open("/dev/zero", "rb") as endless:
            self.assert_refused(self.timeline("-", stdin=endless),
                                'standard input is not a capture: its first line is not "tidepool capture 1"')


class TimelineDamage(Timeline):
    def assert_drawn(self, contents, problems, status=1):
        self.write("capture.txt", contents)
        result = self.timeline("capture.txt")
        self.assertEqual(result.err.decode().replace("\r\n", "\n").splitlines(),
                         [f"tidepool timeline: capture.txt: {problem}" for problem in problems])
        self.assertEqual(result.status, status)
        data = self.data_of(self.read("capture.html"))
        self.assertEqual(data["problems"], problems)
        return data

    def test_one_that_is_cut_off_is_drawn_as_far_as_it_goes_and_reported(self):
        lines = SMALL.split(b"\n")
        data = self.assert_drawn(b"\n".join(lines[:500]) + b"\n123 4",
                                 ['The capture is cut off: its last line, "end", is missing.',
                                  f"The capture announces {len(lines) - lines.index(b'records') - 3} records, and "
                                  f"{500 - lines.index(b'records') - 1} could be read."])
        self.assertGreater(len(data["spans"]["type"]), 50)

    def test_one_without_records_is_drawn_and_says_so(self):
        data = self.assert_drawn(captures.text_of([]), [], status=0)
        self.assertEqual(data["notices"], ["The capture holds no records."])

    def test_garbage_in_the_middle_is_left_out_and_reported(self):
        lines = SMALL.split(b"\n")
        at = lines.index(b"records") + 10
        lines[at:at] = [b"\x00\xff\xfe garbage", b"more of it"]
        self.assert_drawn(b"\n".join(lines), [f"2 lines make no sense and are left out (lines {at + 1}, {at + 2})."])

    def test_lost_records_and_unknown_categories_are_no_damage_but_said(self):
        data = self.assert_drawn(captures.text_of(["5 1 work 0x1 submitted"], lost=7, ignored="wrok"), [], status=0)
        self.assertIn("7 records before the first are lost", data["notices"][0])
        self.assertIn("wrok", data["notices"][1])

    def test_nothing_in_a_capture_ends_the_script_that_holds_it(self):
        hostile = "</script><script>alert(1)</script><!--<script>\u2028\\"
        self.write("capture.txt", captures.text_of(
            [f"5 1 work 0x1 created site={hostile}", f"6 1 exception 0x0 thrown type={hostile}"], threads={1: hostile}))
        self.timeline("capture.txt")
        page = self.read("capture.html")
        self.assertEqual(page.lower().count(b"<script"), page.lower().count(b"</script>"))
        self.assertNotIn(b"<script>alert", page)
        data = self.data_of(page)
        self.assertIn(hostile, data["strings"])
        self.assertEqual(data["threads"]["name"], [hostile])


class ChromeTrace(Timeline):
    """What the description of the trace event format asks of a file."""

    def trace(self, contents):
        self.write("capture.txt", contents)
        result = self.timeline("capture.txt", "--chrome", "trace.json")
        self.assertIn(result.status, (0, 1), result.err)
        return json.loads(self.read("trace.json"))

    def test_every_event_has_the_fields_of_its_phase(self):
        trace = self.trace(captures.capture(8000))
        self.assertEqual(trace["displayTimeUnit"], "ns")
        needed = {"X": {"dur"}, "M": {"args"}, "s": {"id"}, "f": {"id", "bp"}, "i": {"s"}, "b": {"id"}, "e": {"id"}}
        seen = collections.Counter()
        for event in trace["traceEvents"]:
            self.assertLessEqual({"ph", "name", "cat", "ts", "pid", "tid"} | needed[event["ph"]], set(event), event)
            self.assertIsInstance(event["name"], str)
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreaterEqual(event.get("dur", 0), 0)
            seen[event["ph"]] += 1
        self.assertEqual(set(seen), set(needed), "all kinds of events are in the capture")

    def test_slices_of_a_thread_nest_and_none_overlap(self):
        lines = captures.capture(8000).split(b"\n")
        del lines[300:2000:37]  # with beginnings and ends missing too
        for contents in (captures.capture(8000), b"\n".join(lines)):
            around = collections.defaultdict(list)
            slices = [event for event in self.trace(contents)["traceEvents"] if event["ph"] == "X"]
            for event in slices:
                begin = round(event["ts"] * 1000)
                end = begin + round(event["dur"] * 1000)
                stack = around[event["tid"]]
                while stack and stack[-1] <= begin:
                    stack.pop()
                self.assertTrue(not stack or end <= stack[-1], event)
                stack.append(end)
            self.assertGreater(len(slices), 1000)

    def test_flows_are_pairs_that_begin_and_end_in_slices(self):
        events = self.trace(captures.capture(8000))["traceEvents"]
        slices = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                begin = round(event["ts"] * 1000)
                slices[event["tid"]].append((begin, begin + round(event["dur"] * 1000), event["cat"]))
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        starts = {event["id"]: event for event in events if event["ph"] == "s"}
        self.assertEqual(starts.keys(), ends.keys())
        self.assertEqual(len(starts), sum(event["ph"] == "s" for event in events), "an id is used once")
        self.assertEqual({start["name"] for start in starts.values()}, {"submitted", "armed", "signalled", "requested"})
        for number, start in starts.items():
            end = ends[number]
            self.assertEqual((start["name"], start["cat"], end["bp"]), (end["name"], end["cat"], "e"))
            self.assertLessEqual(start["ts"], end["ts"])
            for event, wanted in ((start, None), (end, {"work", "one-off", "timer", "periodic_timer", "wait", "io"})):
                time = round(event["ts"] * 1000)
                self.assertTrue(any(begin <= time <= until and (wanted is None or (category in wanted and begin == time))
                                    for begin, until, category in slices[event["tid"]]), event)

    def test_stretches_end_and_threads_have_names(self):
        events = self.trace(captures.capture(8000))["traceEvents"]
        open_at = {}
        for event in events:
            if event["ph"] == "b":
                self.assertNotIn(event["id"], open_at)
                open_at[event["id"]] = event["ts"]
            elif event["ph"] == "e":
                self.assertLessEqual(open_at[event["id"]], event["ts"])
                open_at[event["id"]] = None
        self.assertTrue(open_at and all(begin is None for begin in open_at.values()))
        self.assertTrue(any(event["cat"] == "stall" for event in events if event["ph"] == "b"))
        named = {event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
        self.assertEqual(named, {event["tid"] for event in events})
        process = [event for event in events if event["name"] == "process_name"]
        self.assertEqual([event["args"]["name"] for event in process], ["/usr/bin/harbour"])

    def test_a_capture_without_records_is_a_trace_without_events(self):
        self.assertEqual(self.trace(captures.text_of([]))["traceEvents"], [])

    def test_times_are_microseconds_with_all_their_nanoseconds(self):
        events = self.trace(captures.text_of(["9007199254740001 1 work 0x1 enter", "9007199254740992 1 work 0x1 leave"]))
        self.assertIn(b'"ts":9007199254740.001', self.read("trace.json"))
        self.assertEqual([event["dur"] for event in events["traceEvents"] if event["ph"] == "X"], [0.991])


if __name__ == "__main__":
    harness.main()
