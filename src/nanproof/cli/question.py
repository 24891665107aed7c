"""The question that commands on a model share: which model, in which ranges, with which weights, for which runtime.

A command subscribes with `add`, and gets from `settings_of` what the options and the configuration file say together.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from nanproof.cli import values
from nanproof.cli.config import Settings, load, merge
from nanproof.frontends import opening
from nanproof.frontends.request import Request

if TYPE_CHECKING:
    from nanproof.findings.report import Report


def add(command: argparse.ArgumentParser) -> None:
    """Add the target and the options that make the question."""
    command.add_argument(
        "target",
        metavar="TARGET",
        help="an ONNX file (text form: .onnxtxt), a SavedModel folder, a .pb, .pbtxt, .keras, .h5 or .pt2 file, or a program as file.py:NAME or package.module:NAME",
    )
    what = command.add_argument_group("the question")
    what.add_argument("--range", dest="ranges", action="append", default=[], metavar="NAME=LO,HI",
                      help="what an input or weight lies in; NAME may be a wildcard for inputs; repeatable")  # fmt: skip
    what.add_argument("--dim", dest="dims", action="append", default=[], metavar="NAME=LO..HI",
                      help="the sizes that a named dimension may have; repeatable")  # fmt: skip
    what.add_argument("--role", dest="roles", action="append", default=[], metavar="NAME=ROLE",
                      help=f"what a value is for ({', '.join(values.ROLES)}); NAME may be a wildcard; repeatable")  # fmt: skip
    what.add_argument("--weights", type=values.choice("--weights", values.WEIGHTS), metavar="|".join(values.WEIGHTS),
                      help="model: the stored values (default); architecture: any values around them")  # fmt: skip
    what.add_argument("--runtime", type=values.choice("--runtime", values.RUNTIMES), metavar="|".join(values.RUNTIMES),
                      help="whose arithmetic the verdicts hold for (default: onnxruntime for an ONNX file, torch for PyTorch)")  # fmt: skip
    what.add_argument("--effort", type=values.choice("--effort", values.EFFORTS), metavar="|".join(values.EFFORTS),
                      help="high: look at each site that stays open by itself; low: one coarse pass (default: normal)")  # fmt: skip
    what.add_argument("--time-limit", type=values.seconds, metavar="SECONDS",
                      help="what effort high may take on top (default: 60)")  # fmt: skip
    what.add_argument(
        "--config", metavar="FILE", help="settings (default: the nearest nanproof.toml or pyproject.toml)"
    )
    loading = command.add_argument_group("a target that is a program, whose code is run in a child process")
    loading.add_argument("--input", dest="specs", action="append", default=[], metavar="NAME=TYPE[SIZES]",
                         help="an example input, such as x=float32[N,3,32,32]; a size with a name stays open; repeatable")  # fmt: skip
    loading.add_argument("--dynamic", action="append", default=[], metavar="batch|all|NAME:AXIS",
                         help="sizes of the example inputs that stay open; repeatable")  # fmt: skip
    loading.add_argument("--mode", type=values.choice("--mode", values.MODES), metavar="|".join(values.MODES),
                         help="of the module (default: eval; train where gradients are checked)")  # fmt: skip
    loading.add_argument("--phase", type=values.choice("--phase", values.PHASES), metavar="|".join(values.PHASES),
                         default="forward", help="gradient: check the gradients of the loss too; step: and one step of an "
                         "optimiser (default: forward)")  # fmt: skip
    loading.add_argument("--loss", metavar="NAME",
                         help="a function of the outputs and of the inputs left over, in the target's file or as file.py:NAME")  # fmt: skip
    loading.add_argument("--optimizer", metavar="NAME",
                         help='what takes the step: "adam(lr=1e-3, eps=1e-8)" as PyTorch has it, or an object of the program')  # fmt: skip
    loading.add_argument("--clip-norm", type=values.norm, metavar="NORM",
                         help="cut all gradients together to this norm before the step")  # fmt: skip
    loading.add_argument(
        "--trust",
        action="store_true",
        help="load a pickle (.pt, .pth, .bin, .ckpt) or a Lambda layer, though it can run any code",
    )
    loading.add_argument("--load-timeout", type=values.timeout, default=600.0, metavar="SECONDS",
                         help="what loading the program may take (default: 600)")  # fmt: skip


def settings_of(options: argparse.Namespace, over: Settings) -> Settings:
    """What the configuration says, then what the options of the question say, then ``over``."""
    asked = Settings(
        ranges=values.named(options.ranges, "--range", "NAME=LO,HI", values.ends),
        dims=values.named(options.dims, "--dim", "NAME=LO..HI", values.sizes),
        roles=values.named(options.roles, "--role", "NAME=ROLE", values.role),
        weights=options.weights,
        runtime=options.runtime,
        effort=options.effort,
        time_limit=options.time_limit,
    )
    return merge(merge(load(options.config, Path.cwd()), asked), over)


def readable(options: argparse.Namespace) -> None:
    """Refuse what can't be a target that we open, before anything is imported for it."""
    opening.readable(options.target, trust=options.trust)


def request_of(options: argparse.Namespace) -> Request:
    """What the options say of a target that is a program, for `frontends.opening.open_target`."""
    return Request(
        specs=values.named(options.specs, "--input", "NAME=TYPE[SIZES]", lambda text, where: text, first=True),
        dynamic=tuple(options.dynamic),
        mode=options.mode,
        phase=options.phase,
        loss=options.loss,
        optimizer=options.optimizer,
        clip_norm=options.clip_norm,
        trust=options.trust,
        timeout=options.load_timeout,
    )


def checked(options: argparse.Namespace, settings: Settings) -> Report:
    """The report of a check of the target."""
    import nanproof

    asked = request_of(options)
    return nanproof.check(
        options.target,
        ranges=settings.ranges,
        dims=settings.dims,
        roles=settings.roles,
        weights=settings.weights or "model",
        runtime=settings.runtime,
        effort=settings.effort or "normal",
        time_limit=settings.time_limit,
        phase=asked.phase,
        loss=asked.loss,
        optimizer=asked.optimizer,
        clip_norm=asked.clip_norm,
        specs=asked.specs,
        dynamic=asked.dynamic,
        mode=asked.mode,
        trust=asked.trust,
        load_timeout=asked.timeout,
    )
