"""The functions' layers: third-party packages, the embedding model, the lexicon, and the core.

Apart, so that a change of the core uploads kilobytes. Their sizes and a function's are checked together.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from aws_cdk import BundlingOptions, DockerImage, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import bundling
from infra.function import ARCHITECTURE, RUNTIME
from infra.pins import check_size
from infra.settings import StackSettings


class Layers(Construct):
    """The layers that all functions have.

    Parameters
    ----------
    root : pathlib.Path
        The project's folder.
    settings : StackSettings
        The model's layer exists only for the embedder that reads it; `emulated` chooses the machine.
    function_folders : sequence of pathlib.Path
        The code that runs with these layers; the size of the largest counts towards the size limit.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        root: Path,
        settings: StackSettings,
        function_folders: Sequence[Path],
    ) -> None:
        super().__init__(scope, construct_id)
        trees = bundling.LayerTrees(root, bundling.lambda_or_host(emulated=settings.emulated))
        has_model = settings.embedder == "onnx"
        self._sizes = {"function": max(map(bundling.size_bytes, function_folders))}
        self.versions: Sequence[lambda_.ILayerVersion] = [
            self._layer("Dependencies", root / "layers" / "dependencies", trees.dependencies),
            *([self._layer("Model", root / "layers" / "model", trees.model)] if has_model else []),
            self._layer("Lexicon", root / "layers" / "lexicon", trees.lexicon),
            self._layer("Recollect", root / "layers" / "recollect", trees.core),
        ]
        check_size(self._sizes)

    def _layer(self, construct_id: str, source: Path, make: Callable[[], bundling.Tree]) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=self._code(source, make),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
        )

    def _code(self, source: Path, make: Callable[[], bundling.Tree]) -> lambda_.Code:
        if not Stack.of(self).bundling_required:  # template tests, `cdk ls`, `cdk destroy`
            return lambda_.Code.from_asset(str(source), exclude=["**/__pycache__"])
        tree = make()
        self._sizes[source.name] = tree.size_bytes
        return lambda_.Code.from_asset(
            str(source),
            asset_hash=tree.key,
            bundling=BundlingOptions(
                # CDK wants an image; it is never pulled, because local bundling works or raises.
                image=DockerImage.from_registry("unused"),
                local=bundling.CopyOf(tree),
            ),
        )
