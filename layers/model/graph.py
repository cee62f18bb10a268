"""Draws the ONNX graph of all-MiniLM-L6-v2: token ids of one text in, one unit vector out.

In float32 (the reference) or with int8 weights, one scale per output channel; nothing else differs between the
two. There is no padding and no attention mask: texts go in one at a time. Activations are quantised by one
scale per run, so a vector would otherwise depend on the texts that happened to share its batch, and a batch is
not faster on one core. Operators are ONNX's own and ONNX Runtime's fused ones for the CPU (x86-64 and arm64).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Weights = Mapping[str, npt.NDArray[np.float32]]
Matrix = npt.NDArray[np.float32]

NAME = "all-minilm-l6-v2"
DIMENSION = 384
WINDOW = 256  # tokens that the model was trained to see at once, the two special ones included
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
FUSED = "com.microsoft"
OPSET = 21
IR_VERSION = 10


def sentence_encoder(weights: Weights, *, is_quantised: bool) -> ModelProto:
    """Build the model.

    Parameters
    ----------
    weights
        Of the original checkpoint, by their names there.
    is_quantised : bool
        Whether matrices and token embeddings are int8.

    Returns
    -------
    ModelProto
        Input ``input_ids``, int32 of shape (1, length), 2 <= length <= WINDOW, special tokens included; output
        ``embedding``, float32 of shape (1, DIMENSION), unit norm. Its metadata say ``name`` and ``window``.

    Notes
    -----
    The mean over tokens is scaled to length one at once.
    """
    graph = _Graph(weights, is_quantised=is_quantised)
    hidden = graph.embeddings("input_ids")
    for layer in range(LAYERS):
        hidden = graph.layer(hidden, f"encoder.layer.{layer}.")
    mean = graph.add("ReduceMean", hidden, graph.constant("axis.tokens", np.array([1])), keepdims=0)
    norm = graph.add("ReduceL2", mean, graph.constant("axis.components", np.array([1])), keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, norm], ["embedding"]))
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            NAME,
            [helper.make_tensor_value_info("input_ids", TensorProto.INT32, [1, "length"])],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, DIMENSION])],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)],
        ir_version=IR_VERSION,
    )
    name = f"{NAME}-int8" if is_quantised else NAME
    helper.set_model_props(model, {"name": name, "window": str(WINDOW)})
    return model


def quantise(matrix: Matrix, axis: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Round a matrix to int8, with one scale for each slice along `axis`.

    Returns
    -------
    codes : ndarray of the matrix's shape, int8, in [-127, 127]
    scales : ndarray of float32, shape of the matrix with `axis` reduced to 1
        ``codes * scales`` is the matrix, nearly.
    """
    peaks = np.abs(matrix).max(axis=axis, keepdims=True)
    scales = np.where(peaks > 0.0, peaks / np.float32(127.0), np.float32(1.0)).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales


class _Graph:
    """Collects nodes and constants; every method adds some and returns the name of their output."""

    def __init__(self, weights: Weights, *, is_quantised: bool) -> None:
        self.weights = weights
        self.is_quantised = is_quantised
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.add_many(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def add_many(self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> list[str]:
        name = f"{operator}_{len(self.nodes)}"
        names = [f"{name}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=name, domain=domain, **attributes))
        return names

    def constant(self, name: str, values: npt.NDArray[np.generic]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def embeddings(self, ids: str) -> str:
        """Sum of token, position and type embeddings, normalised; the type is always the first."""
        prefix = "embeddings."
        words = self.weights[prefix + "word_embeddings.weight"]
        if self.is_quantised:
            codes, scales = quantise(words, axis=1)
            codes_found = self.add("Gather", self.constant("words.codes", codes), ids)
            scales_found = self.add("Gather", self.constant("words.scales", scales), ids)
            tokens = self.add("Mul", self.add("Cast", codes_found, to=TensorProto.FLOAT), scales_found)
        else:
            tokens = self.add("Gather", self.constant("words", words), ids)
        positions = self.weights[prefix + "position_embeddings.weight"][:WINDOW]
        first_type = self.weights[prefix + "token_type_embeddings.weight"][0]
        table = self.constant("positions", positions + first_type)
        length = self.add("Shape", ids, start=1, end=2)
        zero = self.constant("zero", np.array([0]))
        summed = self.add("Add", tokens, self.add("Slice", table, zero, length, zero))
        return self.add("LayerNormalization", summed, *self._norm(prefix + "LayerNorm"), epsilon=EPSILON)

    def layer(self, hidden: str, prefix: str) -> str:
        attended = self._linear(self._attention(hidden, prefix), prefix + "attention.output.dense")
        hidden = self._add_and_norm(attended, hidden, prefix + "attention.output.LayerNorm")
        inner = self.add("Gelu", self._linear(hidden, prefix + "intermediate.dense"), domain=FUSED)
        return self._add_and_norm(self._linear(inner, prefix + "output.dense"), hidden, prefix + "output.LayerNorm")

    def _attention(self, hidden: str, prefix: str) -> str:
        parts = [f"{prefix}attention.self.{part}." for part in ("query", "key", "value")]
        matrix = np.concatenate([self.weights[part + "weight"].T for part in parts], axis=1)
        name = prefix + "attention.self"
        bias = self.constant(name + ".bias", np.concatenate([self.weights[part + "bias"] for part in parts]))
        if not self.is_quantised:
            weight = self.constant(name + ".weight", matrix)
            return self.add("Attention", hidden, weight, bias, domain=FUSED, num_heads=HEADS)
        weight, scales = self._codes(name, matrix)
        codes, scale, zero = self.add_many("DynamicQuantizeLinear", hidden, outputs=3)
        inputs = (codes, weight, bias, scale, scales, "", zero)
        return self.add("QAttention", *inputs, domain=FUSED, num_heads=HEADS)

    def _linear(self, hidden: str, name: str) -> str:
        matrix = self.weights[name + ".weight"].T
        bias = self.constant(name + ".bias", self.weights[name + ".bias"])
        if not self.is_quantised:
            return self.add("Add", self.add("MatMul", hidden, self.constant(name + ".weight", matrix)), bias)
        weight, scales = self._codes(name, matrix)
        return self.add("DynamicQuantizeMatMul", hidden, weight, scales, "", bias, domain=FUSED)

    def _codes(self, name: str, matrix: Matrix) -> tuple[str, str]:
        codes, scales = quantise(matrix, axis=0)
        return self.constant(name + ".codes", codes), self.constant(name + ".scales", scales[0])

    def _add_and_norm(self, hidden: str, residual: str, name: str) -> str:
        inputs = (hidden, residual, *self._norm(name))
        return self.add("SkipLayerNormalization", *inputs, domain=FUSED, epsilon=EPSILON)

    def _norm(self, name: str) -> list[str]:
        return [self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")]
