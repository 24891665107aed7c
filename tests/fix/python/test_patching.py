"""Rewrites in Python source: how the changed text reads."""

from __future__ import annotations

from textwrap import dedent

import pytest
from tests.fix.python.texts import changed, placements, source_of

from nanproof.fix.draft import NotHereError
from nanproof.fix.python.patching import diff, patched

ALONE = {
    "log-softmax": [
        ("torch.log(torch.softmax(x @ w, 1))", "F.log_softmax(x @ w, dim=1)"),
        ("F.softmax(x, dim=-1).log()", "F.log_softmax(x, dim=-1)"),
        ("torch.log(x.softmax(1)).mean()", "F.log_softmax(x, dim=1).mean()"),
        ("-torch.log(torch.softmax(x, self.axis))", "-F.log_softmax(x, dim=self.axis)"),
        ("torch.log(F.softmax(x, 1).gather(1, y))", "F.log_softmax(x, dim=1).gather(1, y)"),
        ("torch.log(F.softmax(x, 1)[torch.arange(4), y])", "F.log_softmax(x, dim=1)[torch.arange(4), y]"),
        ("torch.log(x.exp() / x.exp().sum(1, keepdim=True))", "F.log_softmax(x, dim=1)"),
        ("torch.log(torch.exp(x) / torch.exp(x).sum(dim=1, keepdim=True))", "F.log_softmax(x, dim=1)"),
    ],
    "log-sigmoid": [
        ("torch.log(torch.sigmoid(x))", "F.logsigmoid(x)"),
        ("(1 / (1 + torch.exp(-x))).log()", "F.logsigmoid(x)"),
        ("torch.log(torch.sigmoid(a + b)) * y", "F.logsigmoid(a + b) * y"),
    ],
    "log-sigmoid-without-epsilon": [
        ("torch.log(torch.sigmoid(x) + 1e-12)", "F.logsigmoid(x)"),
        ("torch.log(torch.sigmoid(x).clamp(min=1e-12))", "F.logsigmoid(x)"),
    ],
    "log-one-minus-sigmoid": [
        ("torch.log(1 - torch.sigmoid(x))", "F.logsigmoid(-x)"),
        ("torch.log(1.0 - torch.sigmoid(a - b))", "F.logsigmoid(-(a - b))"),
    ],
    "softmax": [
        ("torch.exp(x) / torch.exp(x).sum(1, keepdim=True)", "torch.softmax(x, dim=1)"),
        ("torch.exp(x) / torch.sum(torch.exp(x), dim=1, keepdim=True) + 1", "torch.softmax(x, dim=1) + 1"),
    ],
    "log-sum-exp": [
        ("torch.log(torch.exp(x).sum(1))", "torch.logsumexp(x, dim=1)"),
        ("x.exp().sum(dim=(1, 2), keepdim=True).log()", "torch.logsumexp(x, dim=(1, 2), keepdim=True)"),
    ],
    "softplus": [("torch.log(1 + torch.exp(x))", "F.softplus(x)"), ("torch.log1p(torch.exp(x))", "F.softplus(x)")],
    "sqrt-exp": [("torch.sqrt(torch.exp(a + b))", "torch.exp(0.5 * (a + b))"), ("x.exp().sqrt()", "torch.exp(0.5 * x)")],
    "log-exp": [("torch.log(torch.exp(a + b)) * 2", "(a + b) * 2")],
    "centred-variance": [
        ("(x ** 2).mean(1) - x.mean(1) ** 2", "x.var(dim=1, correction=0)"),
        ("(x * x).mean(dim=1, keepdim=True) - x.mean(dim=1, keepdim=True) ** 2", "x.var(dim=1, keepdim=True, correction=0)"),
    ],
    "normalize": [
        ("x / x.norm(dim=1, keepdim=True)", "F.normalize(x, dim=1)"),
        ("x / torch.linalg.norm(x, dim=1, keepdim=True)", "F.normalize(x, dim=1)"),
        ("x / torch.sqrt((x ** 2).sum(1, keepdim=True))", "F.normalize(x, dim=1)"),
    ],
    "double-where": [
        ("torch.where(mask, a, x.sqrt())", "torch.where(mask, a, torch.where(mask, 1.0, x).sqrt())"),
    ],
    "double-where-of-quotient": [
        ("torch.where(mask, x / n, 0.0)", "torch.where(mask, x / torch.where(mask, n, 1.0), 0.0)"),
    ],
    "count-of-one": [("(x * m).sum(1) / m.sum(1)", "(x * m).sum(1) / m.sum(1).clamp_min(1)")],
    "clipped-arc": [("torch.acos(a @ b)", "torch.acos((a @ b).clamp(-1.0, 1.0))"), ("c.acos()", "c.clamp(-1.0, 1.0).acos()")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "before", "after"), [(name, *pair) for name, pairs in ALONE.items() for pair in pairs]
)
def test_an_expression_is_rewritten_in_place(name: str, before: str, after: str) -> None:
    text = "def f(self, a, b, c, m, n, w, x, y, mask):\n    return {}  # kept\n"
    assert changed(text.format(before), name) == text.format(after)


def test_scores_get_a_name_and_probabilities_that_nothing_needs_go() -> None:
    before = """
        def loss(self, x, y):
            p = torch.softmax(x @ self.W + self.b, 1)
            return -(y * torch.log(p)).sum()
    """
    after = """
        def loss(self, x, y):
            logits = x @ self.W + self.b
            return -(y * F.log_softmax(logits, dim=1)).sum()
    """
    assert changed(before, "log-softmax") == dedent(after).lstrip()


def test_probabilities_that_are_needed_stay() -> None:
    before = """
        def loss(self, x, y):
            # who is it?
            p = torch.softmax(self.layer(x), 1)  # a row for each
            return -(y * torch.log(p)).sum(), p.argmax(1)
    """
    after = """
        def loss(self, x, y):
            # who is it?
            logits = self.layer(x)
            p = torch.softmax(logits, 1)  # a row for each
            return -(y * F.log_softmax(logits, dim=1)).sum(), p.argmax(1)
    """
    assert changed(before, "log-softmax") == dedent(after).lstrip()


def test_a_condition_that_is_used_twice_gets_a_name() -> None:
    before = """
        def f(x):
            return torch.where(x > 0, torch.log(x), 0.0)
    """
    after = """
        def f(x):
            chosen = x > 0
            return torch.where(chosen, torch.log(torch.where(chosen, x, 1.0)), 0.0)
    """
    assert changed(before, "double-where") == dedent(after).lstrip()


def test_two_rewrites_of_one_function_share_a_name() -> None:
    before = """
        def loss(self, x, y):
            h = torch.sigmoid(x @ self.W + self.b)
            hit = y * torch.log(h)
            miss = (1 - y) * torch.log(1 - h)
            return -(hit + miss).mean()
    """
    after = """
        def loss(self, x, y):
            logits = x @ self.W + self.b
            hit = y * F.logsigmoid(logits)
            miss = (1 - y) * F.logsigmoid(-logits)
            return -(hit + miss).mean()
    """
    assert changed(before, "log-sigmoid", "log-one-minus-sigmoid") == dedent(after).lstrip()


def test_a_name_that_is_there_is_used() -> None:
    before = """
        def loss(x):
            scores = x * 2
            p = F.softmax(scores, dim=1)
            return torch.log(p)
    """
    after = """
        def loss(x):
            scores = x * 2
            return F.log_softmax(scores, dim=1)
    """
    assert changed(before, "log-softmax") == dedent(after).lstrip()


def test_a_name_that_holds_something_else_by_then_is_not_used() -> None:
    text = """
        def loss(x):
            p = F.softmax(x, dim=1)
            x = x + 1
            return torch.log(p) + x
    """
    after = """
        def loss(x):
            logits = x
            x = x + 1
            return F.log_softmax(logits, dim=1) + x
    """
    assert changed(text, "log-softmax") == dedent(after).lstrip()


def test_a_new_name_is_not_one_that_is_taken() -> None:
    before = """
        def loss(x, logits):
            p = torch.sigmoid(x + logits)
            return torch.log(p)
    """
    after = """
        def loss(x, logits):
            logits_2 = x + logits
            return F.logsigmoid(logits_2)
    """
    assert changed(before, "log-sigmoid") == dedent(after).lstrip()


def test_layers_and_module_constants_are_seen_through() -> None:
    before = """
        TINY = 1e-12


        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.act = nn.Sigmoid()

            def forward(self, x):
                return torch.log(self.act(x) + TINY)
    """
    assert "        return F.logsigmoid(x)\n" in changed(before, "log-sigmoid-without-epsilon")


@pytest.mark.parametrize(
    "body",
    [
        "p = torch.sigmoid(x)\n    if y:\n        p = x\n    return torch.log(p)",
        "for _ in y:\n        p = torch.sigmoid(x)\n    return torch.log(p)",
        "p = torch.sigmoid(x)\n    p[0] = 1\n    return torch.log(p)",
        "p = torch.sigmoid(x)\n    p += 1\n    return torch.log(p)",
        "p, q = torch.sigmoid(x), y\n    p, q = q, p\n    return torch.log(p)",
        "with y as p:\n        pass\n    return torch.log(p)",
        "p = torch.sigmoid(x)\n    return [torch.log(p) for p in y]",
        "p = torch.sigmoid(x)\n    p.clamp_(0.1, 0.9)\n    return torch.log(p)",
        "p = torch.bernoulli(x)\n    return torch.log(p)",
    ],
)
def test_a_name_that_may_hold_something_else_is_no_match(body: str) -> None:
    assert not placements(source_of(f"def f(x, y):\n    {body}\n"), "log-sigmoid")


def test_what_is_drawn_twice_is_not_one_value() -> None:
    text = "def f(x):\n    return torch.exp(torch.rand_like(x)) / torch.exp(torch.rand_like(x)).sum(1, keepdim=True)\n"
    assert not placements(source_of(text), "softmax")


def test_branches_that_leave_do_not_spoil_what_comes_after() -> None:
    text = """
        def f(x, y):
            p = torch.sigmoid(x)
            if y is None:
                p = p + 1
                return p
            return torch.log(p)
    """
    assert "return F.logsigmoid(x)" in changed(text, "log-sigmoid")


def test_formatting_over_several_lines_is_kept() -> None:
    before = """
        def f(x):
            return torch.log(
                torch.softmax(
                    x
                    + 1,  # shifted
                    dim=1,
                )
            )
    """
    made = changed(before, "log-softmax")
    assert "F.log_softmax(" in made
    assert "torch.log(" not in made


def test_modules_are_called_as_the_file_calls_them() -> None:
    text = "def f(x):\n    return torch.log(torch.sigmoid(x))\n"
    assert "nn.functional.logsigmoid(x)" in changed(text, "log-sigmoid", head="import torch\nfrom torch import nn\n")
    assert "torch.nn.functional.logsigmoid(x)" in changed(text, "log-sigmoid", head="import torch\n")


@pytest.mark.parametrize(
    ("head", "before", "after"),
    [
        ("import jax\nimport jax.numpy as jnp\n", "jnp.log(jax.nn.softmax(x, axis=-1))", "jax.nn.log_softmax(x, axis=-1)"),
        ("import tensorflow as tf\n", "tf.math.log(tf.nn.softmax(x, axis=1))", "tf.nn.log_softmax(x, axis=1)"),
    ],
)  # fmt: skip
def test_other_frameworks_have_their_own_words(head: str, before: str, after: str) -> None:
    assert changed(f"def f(x):\n    return {before}\n", "log-softmax", head=head) == f"def f(x):\n    return {after}\n"


def test_one_line_blocks_are_left_alone() -> None:
    source = source_of("def f(x):\n    p = torch.sigmoid(x + 1); return torch.log(p)\n")
    with pytest.raises(NotHereError, match="more than one statement"):
        patched(source, placements(source, "log-sigmoid"))


def test_the_diff_is_one_that_patch_can_read() -> None:
    source = source_of("def f(x):\n    return torch.log(torch.sigmoid(x))")
    made = diff(source, patched(source, placements(source, "log-sigmoid")))
    assert made.splitlines()[:2] == ["--- a/model.py", "+++ b/model.py"]
    assert "-    return torch.log(torch.sigmoid(x))\n\\ No newline at end of file\n" in made
    assert made.count("\n+    return F.logsigmoid(x)") == 1


def test_text_before_a_change_may_be_anything() -> None:
    text = 'def f(x):\n    s = "größer ≥ 0"; del s\n    return "é", torch.log(torch.sigmoid(x))\n'
    assert changed(text, "log-sigmoid").endswith('return "é", F.logsigmoid(x)\n')
