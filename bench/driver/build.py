"""Builds what is measured, always optimised."""

import subprocess

CONTESTANTS = ["-DTIDEPOOL_BUILD_BENCH=ON", "-DTIDEPOOL_BUILD_TESTS=OFF", "-DTIDEPOOL_BUILD_TOOL=OFF",
               "-DTIDEPOOL_BUILD_EXAMPLES=OFF"]


def build(root, folder, report, target="bench", options=CONTESTANTS):
    """Configures and builds `target` in `folder`; raises RuntimeError with the tool's words on failure."""
    report("building in " + str(folder))
    for command in (["cmake", "--preset", "release", "-B", str(folder), *options],
                    ["cmake", "--build", str(folder), "--target", target, "--parallel", "2"]):
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(" ".join(command) + " failed:\n" + (done.stdout + done.stderr)[-6000:])
