"""tidepool sum: trees and files that are large."""

import os
import subprocess

import harness
from harness import ToolTest, posix_only

FILES = 20000


class Scale(ToolTest):
    def test_twenty_thousand_files_are_summed_in_order(self):
        for folder in range(200):
            os.makedirs(self.path(f"tree/{folder:03}"))
            for i in range(FILES // 200):
                with open(self.path(f"tree/{folder:03}/{i:02}"), "wb") as file:
                    file.write(b"%d" % (folder * 100 + i))
        expected = [f"tree/{folder:03}/{i:02}" for folder in range(200) for i in range(FILES // 200)]
        self.assert_sums(self.sum("tree"), expected)

    def test_one_folder_with_many_files_is_summed_in_order(self):
        os.makedirs(self.path("tree"))
        for i in range(5000):
            self.write(f"tree/{i * 7919 % 5000:04}", b"x")
        self.assert_sums(self.sum("--jobs", "8", "tree"), [f"tree/{i:04}" for i in range(5000)])

    def test_a_deep_tree_is_walked_to_its_end(self):
        depth = 60 if harness.ON_WINDOWS else 400
        path = "tree" + "/d" * depth
        self.write(path + "/file", b"deep")
        self.assert_sums(self.sum("tree"), [path + "/file"])

    @posix_only
    def test_large_files_are_summed_alike_whatever_carries_out_the_reads(self):
        for i in range(12):
            self.write(f"tree/{i:02}", bytes([i]) * (1000000 * i + 131072))
        expected = [f"tree/{i:02}" for i in range(12)]
        for path in ("auto", "uring", "portable"):
            self.assert_sums(self.sum("tree", env=dict(os.environ, TIDEPOOL_IO=path)), expected)

    @posix_only
    def test_a_file_of_three_gibibytes_takes_little_memory(self):
        import resource

        self.sparse("large", 3 << 30)
        result = self.sum("large")
        self.assertEqual(result.lines(), [b"9d267feaab1011a281e2dc14742c699d  large"])
        self.assertEqual((result.status, result.err), (0, b""))
        if not harness.SANITIZED:
            # Kibibytes, the largest of all children: the tool is the only one that could be large here.
            self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 64 * 1024)

    @posix_only
    def test_a_slow_file_at_the_front_holds_a_bounded_number_behind_it(self):
        for i in range(3000):
            self.write(f"tree/{i:04}", b"x")
        running = self.start_tool("sum", "--jobs", "2", "--progress", "always", "-", "tree", stdin=subprocess.PIPE)
        # Standard input and 1023 files fill the window; the rest has to wait for standard input.
        running.wait_until(lambda child: b" 1,023/3,001 files" in child.err, "full window")
        self.assertEqual(running.out, b"")
        running.process.stdin.close()
        result = running.finish()
        self.assertEqual(result.paths(), [b"stdin", *(f"tree/{i:04}".encode() for i in range(3000))])
        self.assertNotIn(b"1,024/3,001 files", result.err.split(b" 1,023/3,001 files")[0])


if __name__ == "__main__":
    harness.main()
