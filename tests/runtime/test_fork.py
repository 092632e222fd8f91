"""Bug 14: after ``os.fork`` the workers are in the parent alone: the child must not wait for them."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json, os
from tallymark.runtime import Run, RunOptions, RunRefusedError

run = Run(RunOptions.from_json({"tasks": 2000, "workers": 2, "context_bytes": 65536}))
child = os.fork()
if child == 0:
    try:
        run.execute()
    except RunRefusedError as error:
        run.close()  # gives the memory back without waiting for anybody
        os._exit(0 if error.status == "forked" else 3)
    os._exit(4)
_, status = os.waitpid(child, 0)
run.execute()
print(json.dumps({"child": status, "run": json.loads(run.record())}))
run.close()
"""


def test_bug14_a_run_made_before_a_fork_is_refused_in_the_child_and_goes_on_in_the_parent() -> None:
    done = subprocess.run(
        (sys.executable, "-I", "-c", PROGRAM), capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["child"] == 0
    assert (told["run"]["outcome"], told["run"]["tasks_completed"]) == ("completed", 2000)
