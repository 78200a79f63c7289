"""Kernels that start at once: forked from a process that has imported what notebooks import.

    kernels.warm()      # from here on, in this process
    papermill.execute_notebook(...)

Each notebook has a kernel of its own, ipykernel's, with nothing in it but what every notebook
imports. Python's fork server keeps the process that they come from, and a provisioner is where
Jupyter lets one say how a kernel is started.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import sys
import threading
from importlib.metadata import EntryPoint

from jupyter_client.provisioning import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from . import paths

NAME = "bedside-forked"
IMPORTED = """ipykernel.ipkernel ipykernel.kernelapp pandas pandas.io.formats.style jinja2
    matplotlib.figure matplotlib.backends.backend_agg matplotlib.backends.backend_svg seaborn
    scipy.special scipy.optimize rapidfuzz sklearn.feature_extraction.text""".split()
SERVER = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")


def warm() -> None:
    """Let the kernels that this process starts be forked ones; only on Linux.

    Elsewhere libraries of the system may not survive a fork, and kernels start as always. So they
    do where the server's socket finds no place, as under a very long TMPDIR.
    """
    if sys.platform == "linux":
        SERVER.set_forkserver_preload(IMPORTED)
        with contextlib.suppress(OSError):
            multiprocessing.forkserver.ensure_running()
            factory = KernelProvisionerFactory.instance()
            factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:Forked", "")
            factory.default_provisioner_name = NAME


def _follow():
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


class Process(SERVER.Process):
    """A forked process, with the methods of a Popen that provisioners use."""

    stdin = stdout = stderr = None

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()
        return self.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


class Forked(LocalProvisioner):
    """Starts a kernel out of the fork server instead of an interpreter from nothing."""

    async def launch_kernel(self, cmd, **options):
        given = cmd[cmd.index("-f") :]
        self.process = Process(target=_kernel, args=(given, dict(options.get("env", os.environ))))
        self.process.start()
        self.pid = self.process.pid
        return self.connection_info


def _kernel(arguments, environment):
    """Be a kernel that ends with the process that started it, however that ended."""
    threading.Thread(target=_follow, daemon=True).start()
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(paths.ROOT)
    from ipykernel.kernelapp import IPKernelApp

    parent = f"--IPKernelApp.parent_handle={os.getppid()}"
    IPKernelApp.launch_instance(argv=[*arguments, parent])
