"""tidepool sum: files that cannot be summed, folders that cannot be walked, and streams that cannot be written."""

import os
import shutil
import signal
import socket
import unittest

import harness
from harness import ToolTest, posix_only

NOBODY = 65534

class Failures(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("tree/a", b"a")
        self.write("tree/z", b"z")

    def assert_reports(self, result, paths, messages, status=1):
        """These paths are summed, correctly; the messages are these, and the exit status that."""
        self.assertEqual(result.paths(), [os.fsencode(path) for path in paths])
        self.assert_verified(result)
        said = result.err.decode().splitlines()
        self.assertEqual([line for line in said if " summed, " not in line],
                         [f"tidepool sum: {message}" for message in messages])
        self.assertEqual(result.status, status)

    def test_a_missing_path_is_reported_and_the_others_are_summed(self):
        result = self.sum("tree/a", "none", "tree/z")
        self.assertEqual(result.paths(), [b"tree/a", b"tree/z"])
        self.assertIn(b"tidepool sum: none: ", result.err)
        self.assertIn(b"tidepool sum: 2 summed, 1 could not be read\n", result.err)
        self.assertEqual(result.status, 1)

    def test_an_empty_path_is_reported(self):
        self.assert_reports(self.sum("", "tree"), ["tree/a", "tree/z"], ["'': the path is empty"])

    @posix_only
    def test_a_path_through_a_file_is_reported(self):
        self.assert_reports(self.sum("tree/a/b"), [], ["tree/a/b: Not a directory"])

    @posix_only
    def test_a_broken_link_is_reported_with_its_target(self):
        os.symlink("gone", self.path("tree/link"))
        message = "tree/link: broken link to 'gone'"
        self.assert_reports(self.sum("tree"), ["tree/a", "tree/z"], [message])
        self.assert_reports(self.sum("tree/link"), [], [message])

    @posix_only
    def test_a_link_that_leads_back_to_itself_is_a_loop(self):
        os.symlink("two", self.path("tree/one"))
        os.symlink("one", self.path("tree/two"))
        self.assert_reports(self.sum("tree"), ["tree/a", "tree/z"],
                            ["tree/one: loop: the link to 'two' leads back to itself",
                             "tree/two: loop: the link to 'one' leads back to itself"])

    def test_a_link_to_a_folder_around_it_is_a_loop(self):
        os.mkdir(self.path("tree/m"))
        os.symlink("..", self.path("tree/m/up"))
        os.symlink(".", self.path("tree/self"))
        # To a program in Wine a link of the system below is the folder that it leads to.
        loop = "is the same folder as" if harness.ON_WINDOWS else "the link leads back to"
        self.assert_reports(self.sum("tree"), ["tree/a", "tree/z"],
                            [f"tree/m/up: loop: {loop} 'tree', which contains it; not entered",
                             f"tree/self: loop: {loop} 'tree', which contains it; not entered"])

    @posix_only
    def test_a_link_is_summed_under_its_own_name(self):
        os.symlink("a", self.path("tree/link"))
        self.assert_sums(self.sum("tree"), ["tree/a", "tree/link", "tree/z"])
        self.assert_sums(self.sum("tree/link"), ["tree/link"])

    @posix_only
    def test_a_link_to_a_folder_is_entered_unless_that_is_refused(self):
        self.write("other/o", b"o")
        os.symlink("../other", self.path("tree/link"))
        os.symlink("a", self.path("tree/file"))
        self.assert_sums(self.sum("tree"), ["tree/a", "tree/file", "tree/link/o", "tree/z"])
        self.assert_sums(self.sum("--no-follow", "tree"), ["tree/a", "tree/file", "tree/z"])
        self.assert_sums(self.sum("--no-follow", "tree/link"), ["tree/link/o"])

    @posix_only
    def test_special_files_in_a_folder_are_skipped_with_a_note(self):
        os.mkfifo(self.path("tree/pipe"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path("tree/socket"))
            self.assert_reports(self.sum("tree"), ["tree/a", "tree/z"],
                                ["tree/pipe: skipped, is a named pipe", "tree/socket: skipped, is a socket"], status=0)

    @posix_only
    def test_a_special_file_that_is_named_is_an_error(self):
        os.mkfifo(self.path("pipe"))
        self.assert_reports(self.sum("pipe", "/dev/null", "tree"), ["tree/a", "tree/z"],
                            ["pipe: is a named pipe, not a file or folder (use - to read standard input)",
                             "/dev/null: is a character device, not a file or folder"])

    @posix_only
    @unittest.skipUnless(shutil.which("setpriv") or (hasattr(os, "geteuid") and os.geteuid() != 0), "needs setpriv(1)")
    def test_unreadable_files_and_folders_are_reported(self):
        self.write("tree/locked/x", b"x")
        self.write("tree/secret", b"s")
        os.chmod(self.path("tree/secret"), 0)
        os.chmod(self.path("tree/locked"), 0)
        os.chmod(self.root, 0o755)
        self.addCleanup(os.chmod, self.path("tree/locked"), 0o755)
        words = harness.command("sum", "tree")
        if os.geteuid() == 0:
            words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]
        self.assert_reports(self.run_words(words), ["tree/a", "tree/z"],
                            ["tree/locked: Permission denied", "tree/secret: Permission denied"])

    @posix_only
    def test_a_path_that_is_too_long_is_reported_and_the_shorter_ones_are_summed(self):
        name = "d" * 250
        folder = os.open(self.path("tree"), os.O_RDONLY)
        for _ in range(17):  # 17 * 251 is beyond the 4096 bytes that a path may have
            os.mkdir(name, dir_fd=folder)
            with open(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "wb") as file:
                file.write(b"deep")
            inner = os.open(name, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(folder)
        result = self.sum("tree")
        below = ["tree/" + (name + "/") * depth for depth in range(17)]
        self.assert_reports(result, ["tree/a", *reversed([path + "file" for path in below[:17]]), "tree/z"],
                            [below[16] + name + ": File name too long"])

    @posix_only
    def test_control_characters_in_messages_are_made_visible(self):
        self.assert_reports(self.sum("\x1b[31m\n\u009bx\u00e4", b"\xff"), [],
                            ["\\x1b[31m\\n\\xc2\\x9bx\u00e4: No such file or directory",
                             "\\xff: No such file or directory"])

    def sum_into(self, file, *arguments):
        """Runs with standard output redirected to the file."""
        if harness.ON_WINDOWS:
            # By the shell of Windows: Wine does not tell which file a handle is that comes from outside Wine.
            tool = "Z:" + harness.TOOL.replace("/", "\\")
            line = " ".join([tool, "sum", *arguments, ">", file.replace("/", "\\")])
            result = self.run_words([*harness.EMULATOR, "cmd", "/c", line])
        else:
            with open(self.path(file), "wb") as out:
                result = self.sum(*arguments, stdout=out)
        with open(self.path(file), "rb") as out:
            result.out = out.read()
        return result

    def test_the_file_that_the_output_goes_to_is_left_out(self):
        result = self.sum_into("tree/sums", "tree")
        self.assert_reports(result, ["tree/a", "tree/z"], ["tree/sums: skipped, this run writes to it"], status=0)

    def test_naming_the_file_that_the_output_goes_to_is_an_error(self):
        result = self.sum_into("sums", "sums", "tree")
        self.assert_reports(result, ["tree/a", "tree/z"], ["sums: this run writes to it"])


class Streams(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("a", b"a")

    @posix_only
    def test_a_closed_standard_output_is_an_error(self):
        result = self.sum("a", preexec_fn=lambda: os.close(1))
        self.assertEqual(result.err, b"tidepool sum: cannot write to standard output: Bad file descriptor\n")
        self.assertEqual(result.status, 1)

    @posix_only
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = self.sum("a", stdout=full)
            self.assertEqual(result.err, b"tidepool sum: cannot write to standard output: No space left on device\n")
            self.assertEqual(result.status, 1)
            self.assertEqual(self.run_tool("--help", stdout=full).status, 1)

    @posix_only
    def test_closed_standard_input_and_error_do_no_harm(self):
        result = self.sum("a", preexec_fn=lambda: (os.close(0), os.close(2)))
        self.assertEqual((result.paths(), result.status), ([b"a"], 0))
        result = self.sum("-", "a", preexec_fn=lambda: os.close(0))
        self.assertEqual((result.paths(), result.status), ([b"a"], 1))
        self.assertIn(b"standard input: cannot be read: Bad file descriptor", result.err)

    @posix_only
    def test_a_reader_that_goes_away_ends_the_tool_silently(self):
        for i in range(200):
            self.write(f"tree/{i:03}{'x' * 200}", b"x")
        reading, writing = os.pipe()
        os.close(reading)
        result = self.sum("tree", stdout=writing)
        os.close(writing)
        self.assertEqual((result.err, result.status), (b"", -signal.SIGPIPE))

    @posix_only
    def test_a_folder_as_standard_input_is_an_error(self):
        folder = os.open(self.root, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        result = self.sum("-", "a", stdin=folder)
        self.assertEqual((result.paths(), result.status), ([b"a"], 1))
        self.assertIn(b"standard input: cannot be read: Is a directory", result.err)


class CommandLine(ToolTest):
    def assert_usage(self, message, *arguments):
        result = self.run_tool(*arguments)
        self.assertEqual((result.status, result.out), (2, b""))
        self.assertIn(message, result.err.decode())
        self.assertIn("--help", result.err.decode())

    def test_mistakes_are_named_with_exit_status_2(self):
        self.assert_usage("tidepool: A subcommand is required")
        self.assert_usage("tidepool: unknown subcommand 'frobnicate'", "frobnicate")
        self.assert_usage("tidepool sum: PATH is required", "sum")
        self.assert_usage("tidepool sum: unknown option '--frobnicate'", "sum", "--frobnicate")
        self.assert_usage("tidepool sum: unknown option '-x'", "sum", "a", "-x")
        self.assert_usage("--jobs", "sum", "--jobs", "0", "a")
        self.assert_usage("--jobs", "sum", "--jobs", "many", "a")
        self.assert_usage("--progress", "sum", "--progress", "sometimes", "a")
        self.assert_usage("--exclude", "sum", "--exclude")
        self.assert_usage("pattern", "sum", "--exclude", "", "a")
        self.assert_usage("standard input", "sum", "-", "-")

    def test_help_and_version_go_to_standard_output(self):
        for arguments in (["--help"], ["sum", "--help"]):
            result = self.run_tool(*arguments)
            self.assertEqual((result.status, result.err), (0, b""))
            self.assertIn(b"Usage: tidepool", result.out)
        result = self.run_tool("--version")
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertRegex(result.out, rb"^tidepool [0-9]+\.[0-9]+\.[0-9]+\n$")


if __name__ == "__main__":
    harness.main()
