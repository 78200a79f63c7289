"""Kernels that start fast: forked from a process that has imported what notebooks import.

    kernels.warm()      # from here on, in this process
    papermill.execute_notebook(...)

Each notebook has an ipykernel of its own, which holds nothing but the imports of every notebook.
Python's fork server keeps the process from which they are forked; a Jupyter provisioner starts
them.
"""

import contextlib
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import sys
import threading
from importlib.metadata import EntryPoint

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Dict

from bedside.read import paths, surroundings

NAME = "bedside-forked"
IMPORTED = """ipykernel.ipkernel ipykernel.kernelapp pandas pandas.io.formats.style jinja2
    matplotlib.figure matplotlib.backends.backend_agg matplotlib.backends.backend_svg seaborn
    scipy.special scipy.optimize scipy.stats statsmodels.stats.multitest
    rapidfuzz sklearn.feature_extraction.text""".split()
SERVER = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")


class Started(AsyncKernelManager):
    """Starts a kernel in an environment of its own."""

    environment = Dict().tag(config=True)

    async def start_kernel(self, **options):
        return await super().start_kernel(**{**options, "env": self.environment})


def warm() -> None:
    """Make this process start forked kernels; only on Linux.

    Elsewhere system libraries may not survive a fork, so kernels start as usual. They also do if
    there is no place for the server's socket, as under a very long TMPDIR.
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
    """Starts a kernel from the fork server instead of a new interpreter."""

    async def launch_kernel(self, cmd, **options):
        given = cmd[cmd.index("-f") :]
        self.process = Process(target=_kernel, args=(given, dict(options["env"])))
        self.process.start()
        self.pid = self.process.pid
        return self.connection_info


def _kernel(arguments, environment):
    """Run a kernel that ends with the process that started it, however that ends."""
    threading.Thread(target=_follow, daemon=True).start()
    os.setsid()
    surroundings.enter(environment)
    os.chdir(paths.ROOT)
    from ipykernel.kernelapp import IPKernelApp

    parent = f"--IPKernelApp.parent_handle={os.getppid()}"
    IPKernelApp.launch_instance(argv=[*arguments, parent])
