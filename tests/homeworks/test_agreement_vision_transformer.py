"""The reference of `vision_transformer` agrees with PyTorch and with the ViT of transformers: values and gradients."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reference import vision_transformer
from tests.homeworks.test_agreement import assert_agree, both_precisions, observed, random, with_random_weights

N, C, H, W, P, D = 2, 3, 4, 6, 2, 8  # pictures, channels, rows and columns of pixels, size of a patch, width
HEADS, D_FF, LAYERS, CLASSES = 2, 5, 2, 3

BLOCK = {
    "norm1": ["layernorm_before"],
    "self_attn.in_proj_": ["attention.q_proj", "attention.k_proj", "attention.v_proj"],
    "self_attn.out_proj": ["attention.o_proj"],
    "norm2": ["layernorm_after"],
    "linear1": ["mlp.fc1"],
    "linear2": ["mlp.fc2"],
}
"""The modules of a block, and those of transformers whose parameters stand one below the other in them."""


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(20)


def vit(dtype: torch.dtype) -> nn.Module:
    """A small ViT of transformers with random weights."""
    from transformers import ViTConfig, ViTForImageClassification  # here, because it takes seconds

    config = ViTConfig(
        image_size=(H, W),
        patch_size=P,
        num_channels=C,
        num_labels=CLASSES,
        hidden_size=D,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_FF,
        layer_norm_eps=1e-5,
        # Its eager attention has a softmax in float32, whatever the rest is.
        attn_implementation="eager" if dtype is torch.float32 else "sdpa",
    )
    return with_random_weights(ViTForImageClassification(config), dtype).eval()


def sources() -> dict[str, list[str]]:
    """The names of transformers' parameters for each of the reference's."""
    embeddings = "vit.embeddings"
    found = {
        "embed.class_token": [f"{embeddings}.cls_token"],
        "embed.positions": [f"{embeddings}.position_embeddings"],
    }
    for kind in ("weight", "bias"):
        found[f"embed.proj.{kind}"] = [f"{embeddings}.patch_embeddings.projection.{kind}"]
        found[f"norm.{kind}"] = [f"vit.layernorm.{kind}"]
        found[f"head.{kind}"] = [f"classifier.{kind}"]
        for i in range(LAYERS):
            for ours, theirs in BLOCK.items():
                dot = "" if ours.endswith("_") else "."
                found[f"blocks.{i}.{ours}{dot}{kind}"] = [f"vit.layers.{i}.{name}.{kind}" for name in theirs]
    return found


def joined(named: dict[str, Tensor], shapes: dict[str, torch.Size]) -> dict[str, Tensor]:
    """Return tensors of the parameters of transformers, under the names and in the shapes of the reference."""
    return {name: torch.cat([named[source] for source in of]).reshape(shapes[name]) for name, of in sources().items()}


def given_to(ours: nn.Module, theirs: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The reference's model with the weights of transformers'; a name or shape that differs raises."""
    shapes = {name: weight.shape for name, weight in ours.state_dict().items()}
    ours.to(dtype).load_state_dict(joined(theirs.state_dict(), shapes))
    return ours


def small_transformer() -> nn.Module:
    return vision_transformer.VisionTransformer(C, (H, W), P, D, HEADS, D_FF, LAYERS, CLASSES)


@both_precisions
class TestAgreement:
    @pytest.mark.parametrize(("rows", "columns", "p"), [(4, 6, 2), (6, 3, 3), (2, 5, 1), (8, 12, 4)])
    def test_patches(self, rows: int, columns: int, p: int, dtype: torch.dtype) -> None:
        """They are F.unfold, transposed, and `unpatch` is F.fold."""
        images = random(N, C, rows, columns, dtype=dtype)
        tokens = random(N, rows * columns // p**2, C * p * p, dtype=dtype)
        grid = rows // p, columns // p
        got = observed(lambda: vision_transformer.patches(images, p), images)
        assert_agree(got, observed(lambda: F.unfold(images, p, stride=p).transpose(1, 2), images))
        got = observed(lambda: vision_transformer.unpatch(tokens, p, grid), tokens)
        assert_agree(got, observed(lambda: F.fold(tokens.transpose(1, 2), (rows, columns), p, stride=p), tokens))

    def test_embedding(self, dtype: torch.dtype) -> None:
        """The patches' tokens are what nn.Conv2d with stride p says, whose weights it loads."""
        ours = with_random_weights(vision_transformer.PatchEmbedding(C, (H, W), P, D), dtype)
        convolution = nn.Conv2d(C, D, P, stride=P).to(dtype)
        convolution.load_state_dict(ours.proj.state_dict())
        images = random(N, C, H, W, dtype=dtype)

        def theirs() -> Tensor:
            return convolution(images).flatten(2).transpose(1, 2) + ours.positions[1:]

        got = observed(lambda: ours(images)[:, 1:], images, *ours.proj.parameters(), ours.positions)
        assert_agree(got, observed(theirs, images, *convolution.parameters(), ours.positions))

    def test_embedding_of_transformers(self, dtype: torch.dtype) -> None:
        """Class token and positions are where transformers has them."""
        theirs = vit(dtype)
        ours = given_to(small_transformer(), theirs, dtype)
        images = random(N, C, H, W, dtype=dtype)
        assert_agree(
            observed(lambda: ours.embed(images), images), observed(lambda: theirs.vit.embeddings(images), images)
        )

    def test_image_attention(self, dtype: torch.dtype) -> None:
        """It is scaled_dot_product_attention with the additive scores as a mask that is added."""
        query, features = random(N, 4, dtype=dtype), random(N, C, H, W, dtype=dtype)
        W_q, W_x, v = random(D, 4, dtype=dtype), random(D, C, dtype=dtype), random(D, dtype=dtype)

        def theirs() -> tuple[Tensor, Tensor]:
            z = torch.tanh((query @ W_q.T)[:, :, None, None] + F.conv2d(features, W_x[:, :, None, None]))
            scores = F.conv2d(z, v[None, :, None, None]).flatten(2)
            X = features.flatten(2).mT
            context = F.scaled_dot_product_attention(torch.zeros_like(X[:, :1]), X, X, attn_mask=scores)
            return context.squeeze(1), scores.softmax(dim=2).unflatten(2, (H, W)).squeeze(1)

        leaves = query, features, W_q, W_x, v
        assert_agree(observed(lambda: vision_transformer.image_attention(*leaves), *leaves), observed(theirs, *leaves))

    def test_transformer(self, dtype: torch.dtype) -> None:
        """The logits and all gradients are those of transformers' ViT, whose weights it loads."""
        theirs = vit(dtype)
        ours = given_to(small_transformer(), theirs, dtype)
        images = random(N, C, H, W, dtype=dtype)
        parameters, others = dict(ours.named_parameters()), dict(theirs.named_parameters())
        logits, of_images, *gradients = observed(lambda: ours(images), images, *parameters.values())
        want, of_theirs, *found = observed(lambda: theirs(images).logits, images, *others.values())
        shapes = {name: weight.shape for name, weight in parameters.items()}
        expected = joined(dict(zip(others, found, strict=True)), shapes)
        assert set(expected) == set(parameters)
        assert_agree([logits, of_images], [want, of_theirs])
        assert_agree(gradients, [expected[name] for name in parameters])

    @pytest.mark.parametrize(("old", "new"), [((2, 3), (4, 5)), ((4, 5), (2, 3)), ((1, 6), (3, 2)), ((3, 2), (3, 2))])
    def test_resize_positions(self, old: tuple[int, int], new: tuple[int, int], dtype: torch.dtype) -> None:
        """It is F.interpolate, bilinear with align_corners=False, behind the row of the class token."""
        table = random(1 + old[0] * old[1], D, dtype=dtype)

        def theirs() -> Tensor:
            grid = table[1:].unflatten(0, old).permute(2, 0, 1)[None]
            resized = F.interpolate(grid, size=new, mode="bilinear", align_corners=False)
            return torch.cat([table[:1], resized[0].flatten(1).T])

        assert_agree(
            observed(lambda: vision_transformer.resize_positions(table, old, new), table), observed(theirs, table)
        )

    def test_similarity(self, dtype: torch.dtype) -> None:
        """It is the product that torch.cdist's squares are made of."""
        X = random(N, 5, 3, dtype=dtype)

        def theirs() -> Tensor:
            squares = (X**2).sum(dim=-1)
            return (squares[:, :, None] + squares[:, None] - (X[:, :, None] - X[:, None]).square().sum(dim=-1)) / 2

        assert_agree(observed(lambda: vision_transformer.similarity(X), X), observed(theirs, X))
