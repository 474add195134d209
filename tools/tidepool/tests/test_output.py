"""tidepool sum: what it prints, and in which order."""

import os
import subprocess

import harness
from harness import ToolTest, posix_only, needs_xxh128sum


class Output(ToolTest):
    def test_digests_are_those_of_xxh3_128(self):
        self.write("abc", b"abc")
        self.write("empty")
        self.write("zeros", bytes(1 << 20))
        result = self.sum("abc", "empty", "zeros")
        self.assertEqual(result.err, b"")
        self.assertEqual(result.lines(), [b"06b05ab6733a618578af5f94892f3950  abc",
                                          b"99aa06d3014798d86001c324468d497f  empty",
                                          b"b6ef17a3448492b6918780b90550bf34  zeros"])

    def test_xxh128sum_accepts_files_of_every_size_class(self):
        sizes = [0, 1, 3, 8, 16, 17, 128, 129, 240, 241, 1024, 4095, 4096, 4097, (1 << 18) - 1, 1 << 18, (1 << 18) + 1,
                 1000003]
        for size in sizes:
            self.write(f"tree/{size:07}", bytes((i * 7 + i // 251) % 256 for i in range(size)))
        self.assert_sums(self.sum("tree"), [f"tree/{size:07}" for size in sizes])

    def test_paths_of_a_folder_come_in_byte_order(self):
        names = ["a-b", "a.b", "a/x", "a/y/z", "a0", "b", "~", "\u00e4", "lib.so", "lib+/x", "lib/y", "lib0", "C"]
        for name in names:
            self.write("tree/" + name, name.encode())
        expected = sorted(b"tree/" + name.encode() for name in names)
        self.assert_sums(self.sum("tree"), expected)

    def test_arguments_keep_their_order_and_may_repeat(self):
        for name in ["b", "a", "c/d"]:
            self.write(name, name.encode())
        self.assert_sums(self.sum("b", "a", "c", "b"), ["b", "a", "c/d", "b"])

    def test_the_output_is_the_same_whatever_the_number_of_jobs(self):
        for i in range(300):
            self.write(f"tree/{i % 7}/{i:03}", bytes([i % 256]) * ((i * 7919) % 300000))
        outputs = {self.sum("--jobs", jobs, "tree").out for jobs in ("1", "2", "16", "16", "256")}
        self.assertEqual(len(outputs), 1)
        self.assertEqual(outputs.pop().count(b"\n"), 300)

    def test_a_slash_at_the_end_of_a_folder_is_not_doubled(self):
        self.write("tree/a", b"a")
        self.assert_sums(self.sum("tree/"), ["tree/a"])
        self.assert_sums(self.sum("."), ["./tree/a"])

    def test_an_empty_folder_prints_nothing(self):
        os.makedirs(self.path("tree/inner"))
        self.assert_sums(self.sum("tree"), [])

    def test_a_file_named_stdin_is_not_taken_for_standard_input(self):
        self.write("stdin", b"a file")
        self.assert_sums(self.sum("stdin"), ["./stdin"])

    def test_standard_input_is_summed_under_the_name_stdin(self):
        self.write("b", b"b")
        result = self.sum("b", "-", input=b"abc")
        self.assertEqual(result.lines()[1], b"06b05ab6733a618578af5f94892f3950  stdin")
        self.assertEqual((result.status, result.err), (0, b""))

    def test_names_with_a_meaning_to_argument_parsers_are_names(self):
        names = ["[a,b]", "{}", "++", "%%", "sum", "--", "-x", "-", "--jobs", "[a", "!", "@x", "a=b", "a b "]
        if harness.ON_WINDOWS:
            names.remove("a b ")
        for name in names:
            self.write("./" + name, name.encode())
        plain = [name for name in names if not name.startswith("-")]
        self.assert_sums(self.sum(*plain), plain)
        self.assert_sums(self.sum("{}"), ["{}"])
        self.assert_sums(self.sum(*plain, "--", "-x", "--", "--jobs"), [*plain, "-x", "--", "--jobs"])
        self.assert_sums(self.sum("."), ["./" + name for name in sorted(names)])

    def test_names_beyond_ascii_are_kept(self):
        names = ["\u00e4\u00f6.txt", "\u6f6e\u6c60", "\U0001f30a"]
        for name in names:
            self.write("tree/" + name, name.encode())
        self.assert_sums(self.sum("tree"), ["tree/" + name for name in names])
        self.assert_sums(self.sum("tree/" + names[1]), ["tree/" + names[1]])

    @posix_only
    def test_names_that_are_not_utf8_are_kept(self):
        for name in [b"tree/\xff\xfe", b"tree/\xc3", b"tree/\x80x"]:
            self.write(name, name)
        self.assert_sums(self.sum("tree"), [b"tree/\x80x", b"tree/\xc3", b"tree/\xff\xfe"])

    @posix_only
    def test_spaces_tabs_returns_and_backslashes_are_printed_as_they_are(self):
        names = [b"tree/ lead", b"tree/back\\slash", b"tree/end ", b"tree/n\\n", b"tree/ret\rurn", b"tree/tab\t"]
        for name in names:
            self.write(name, name)
        self.assert_sums(self.sum("tree"), names)

    @posix_only
    def test_a_name_with_a_newline_is_escaped_on_one_line(self):
        self.write("a\n\\b", b"abc")
        result = self.sum("a\n\\b")
        self.assertEqual(result.out, b"\\06b05ab6733a618578af5f94892f3950  a\\n\\\\b\n")
        self.assertEqual((result.status, result.err), (0, b""))

    def test_lines_end_in_a_line_feed_alone(self):
        self.write("a", b"a")
        self.write("b", b"b")
        self.assertNotIn(b"\r", self.sum("a", "b").out)

    def test_a_result_is_printed_while_a_later_one_is_still_being_read(self):
        self.write("a", b"abc")
        running = self.start_tool("sum", "--jobs", "2", "a", "-", stdin=subprocess.PIPE)
        running.wait_until(lambda child: child.out.endswith(b"  a\n"), "line of the first file")
        running.process.stdin.close()
        result = running.finish()
        self.assertEqual(result.paths(), [b"a", b"stdin"])
        self.assertEqual(result.status, 0)

    def test_a_result_waits_for_those_before_it(self):
        self.write("a", b"abc")
        running = self.start_tool("sum", "--jobs", "2", "--progress", "always", "-", "a", stdin=subprocess.PIPE)
        running.wait_until(lambda child: b" 1/2 files" in child.err, "end of the second file")
        self.assertEqual(running.out, b"")
        running.process.stdin.close()
        self.assertEqual(running.finish().paths(), [b"stdin", b"a"])

    @needs_xxh128sum
    def test_the_documentation_of_this_machine_verifies_in_a_pipe(self):
        if not os.path.isdir("/usr/share/doc") or harness.ON_WINDOWS:
            self.skipTest("no /usr/share/doc")
        tool = subprocess.Popen(harness.command("sum", "/usr/share/doc"), stdout=subprocess.PIPE)
        check = subprocess.run(["xxh128sum", "-c", "--quiet"], stdin=tool.stdout, timeout=harness.TIME_OUT, check=False)
        tool.stdout.close()
        tool.wait(harness.TIME_OUT)
        self.assertEqual(check.returncode, 0)


class Selection(ToolTest):
    def setUp(self):
        super().setUp()
        for name in ["a.c", "a.o", "build/b.c", "src/build/c.c", "src/d.o", "src/build.c", "src/e"]:
            self.write(name, name.encode())

    def test_a_pattern_without_a_slash_excludes_names_at_any_depth(self):
        self.assert_sums(self.sum("--exclude", "*.o", "--exclude", "build", "."),
                         ["./a.c", "./src/build.c", "./src/e"])

    def test_a_pattern_with_a_slash_counts_from_the_folder_given(self):
        self.assert_sums(self.sum(".", "--exclude", "/build", "--exclude", "src/*.?"),
                         ["./a.c", "./a.o", "./src/build/c.c", "./src/e"])

    def test_a_slash_at_the_end_of_a_pattern_means_folders_only(self):
        self.assert_sums(self.sum("--exclude=b*/", "--exclude=e/", "."),
                         ["./a.c", "./a.o", "./src/build.c", "./src/d.o", "./src/e"])

    def test_what_is_named_is_summed_even_when_a_pattern_matches_it(self):
        self.assert_sums(self.sum("--exclude", "*", "a.o", "build"), ["a.o"])


if __name__ == "__main__":
    harness.main()
