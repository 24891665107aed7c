"""The names of results, for operators with more than one kind of them: functions refer to results by name."""

from __future__ import annotations

_NAMES: dict[str, tuple[str, ...]] = {
    "BroadcastGradientArgs": ("r0", "r1"),
    "FusedBatchNorm": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    "FusedBatchNormV2": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    "FusedBatchNormV3": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"),
    "FusedBatchNormGrad": ("x_backprop", "scale_backprop", "offset_backprop", "reserve_space_3", "reserve_space_4"),
    "FusedBatchNormGradV2": ("x_backprop", "scale_backprop", "offset_backprop", "reserve_space_3", "reserve_space_4"),
    "FusedBatchNormGradV3": ("x_backprop", "scale_backprop", "offset_backprop", "reserve_space_4", "reserve_space_5"),
    "InTopKV2": ("precision",),
    "LinSpace": ("output",),
    "MaxPoolWithArgmax": ("output", "argmax"),
    "Merge": ("output", "value_index"),
    "RefMerge": ("output", "value_index"),
    "RefSwitch": ("output_false", "output_true"),
    "ListDiff": ("out", "idx"),
    "Lu": ("lu", "p"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "Qr": ("q", "r"),
    "SelfAdjointEigV2": ("e", "v"),
    "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "StatelessRandomGetKeyCounter": ("key", "counter"),
    "StatelessRandomGetKeyCounterAlg": ("key", "counter", "alg"),
    "Svd": ("s", "u", "v"),
    "Switch": ("output_false", "output_true"),
    "TensorArrayV3": ("handle", "flow"),
    "TensorListPopBack": ("output_handle", "tensor"),
    "TopK": ("values", "indices"),
    "TopKV2": ("values", "indices"),
    "Unique": ("y", "idx"),
    "UniqueV2": ("y", "idx"),
    "UniqueWithCounts": ("y", "idx", "count"),
}


def position(op: str, name: str) -> int:
    """Which result is the first of that name. Only the last name of an operator may stand for several results."""
    names = _NAMES.get(op, ())
    return names.index(name) if name in names else 0
