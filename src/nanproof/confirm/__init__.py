"""From a finding to evidence: a test that fails, or the proof that none can.

The package can be called, since it bears the name of its one public function: ``nanproof.confirm(model, ...)`` checks a
model and looks for evidence in one go. It is ``nanproof.check(model, ...).confirm(...)`` with both sets of options.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nanproof.confirm.checked import Checked

_OWN = ("search", "seed", "seconds", "vary", "prove", "minimise", "tests")


class _Package(ModuleType):
    def __call__(self, model: Any, **options: Any) -> Checked:
        """Check a model and confirm its findings: options as of ``nanproof.check`` and ``Checked.confirm``."""
        import nanproof

        own = {name: options.pop(name) for name in _OWN if name in options}
        return nanproof.check(model, **options).confirm(**own)


sys.modules[__name__].__class__ = _Package
