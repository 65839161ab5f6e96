"""The vision transformer: a picture is cut into patches, and a patch is a token.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

    pictures ──► patches ──► linear layer ──► class token in front ──► + positions ──► blocks ──► norm ──► head
    (N, C, H, W) (N, h·w, C·p·p) (N, h·w, D)  (N, 1 + h·w, D)                                      of the class token

Conventions: the batch comes first, and pictures are `(N, C, H, W)`, as in PyTorch: N pictures, C channels, H
rows and W columns of pixels. A patch has p rows and p columns, so a picture has h = H / p rows and w = W / p
columns of patches. Patches are counted row by row, as one reads: the patch in row i and column j has number i·w
+ j. The class token comes first, before all patches. A weight is `(out, in)`, as in PyTorch. Results keep the
dtype and the device of the input, and no input is ever changed.
"""

import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------------------------------------------------
# Part 1: patches
# ------------------------------------------------------------------------------------------------------------


def patches(images: torch.Tensor, p: int) -> torch.Tensor:
    """Cut pictures into patches of p × p pixels: one row of numbers for each patch.

    images: (N, C, H, W)             a size H or W that is no multiple of p raises ValueError
    p                                the rows and columns of a patch
    returns (N, h·w, C·p·p)          the patches row by row; in a patch first the channel, then the row, then the column
    """
    raise NotImplementedError("part 1: patches")


def unpatch(rows: torch.Tensor, p: int, grid: tuple[int, int]) -> torch.Tensor:
    """Put patches together again: the inverse of `patches`.

    rows: (N, h·w, C·p·p)            C is found from the length of a row; ValueError if it is no multiple of p·p
    p                                the rows and columns of a patch
    grid                             (h, w), the rows and columns of patches; ValueError if there are not h·w patches
    returns (N, C, H, W)             H = h·p, W = w·p
    """
    raise NotImplementedError("part 1: unpatch")


# ------------------------------------------------------------------------------------------------------------
# Part 2: patches become tokens
# ------------------------------------------------------------------------------------------------------------


class PatchEmbedding(nn.Module):
    """A linear layer for each patch, a class token in front, and learned positions.

        proj           nn.Conv2d(C, D, kernel_size=p, stride=p): its weight (D, C, p, p) and its bias (D,)
        class_token    a parameter (D,)
        positions      a parameter (1 + h·w, D): row 0 is for the class token

    It has no other parameters, and its state_dict() has no other entries.
    """

    def __init__(self, channels: int, size: tuple[int, int], p: int, d_model: int) -> None:
        """Make the parameters. How they start is up to you.

        channels     C
        size         (H, W), the rows and columns of pixels of every picture; multiples of p
        p            the rows and columns of a patch
        d_model      D, the width of a token
        """
        super().__init__()
        raise NotImplementedError("part 2: PatchEmbedding.__init__")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Make the tokens of the pictures.

        images: (N, C, H, W)             pictures of another size (H, W) raise ValueError
        returns (N, 1 + h·w, D)          the class token, then the patches row by row; positions are added to all
        """
        raise NotImplementedError("part 2: PatchEmbedding.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 3: attention over the places of a picture
# ------------------------------------------------------------------------------------------------------------


def image_attention(
    query: torch.Tensor, features: torch.Tensor, W_q: torch.Tensor, W_x: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Look at the places of a picture: s = vᵀ tanh(W_q q + W_x x) for each place x, softmax over all places, mean.

    query: (N, d)                    one query for each picture, such as the state of a network that writes a caption
    features: (N, C, h, w)           what a convolutional network says of h × w places
    W_q: (A, d)
    W_x: (A, C)
    v: (A,)
    returns the tuple (context, map)
        context: (N, C)              the mean of the places, weighted by the map
        map: (N, h, w)               the weights: they sum to 1 over the places of a picture
    """
    raise NotImplementedError("part 3: image_attention")


# ------------------------------------------------------------------------------------------------------------
# Part 4: the vision transformer
# ------------------------------------------------------------------------------------------------------------


class VisionTransformer(nn.Module):
    """Patch embedding, pre-norm blocks, a last norm, and a head that reads the class token.

        embed        PatchEmbedding(channels, size, p, d_model): part 2
        blocks       an nn.ModuleList of n_layers blocks with the parameters of nn.TransformerEncoderLayer
        norm         nn.LayerNorm(d_model)
        head         nn.Linear(d_model, n_classes)

    It has no other parameters, and its state_dict() has no other entries.
    """

    def __init__(
        self,
        channels: int,
        size: tuple[int, int],
        p: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        n_classes: int,
    ) -> None:
        """Make the modules. How their parameters start is up to you."""
        super().__init__()
        raise NotImplementedError("part 4: VisionTransformer.__init__")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Say how well each class fits each picture.

        images: (N, C, H, W)         pictures of another size (H, W) raise ValueError
        returns (N, n_classes)       logits; the same in train() and in eval()
        """
        raise NotImplementedError("part 4: VisionTransformer.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 5: positions for pictures of another size
# ------------------------------------------------------------------------------------------------------------


def resize_positions(table: torch.Tensor, old: tuple[int, int], new: tuple[int, int]) -> torch.Tensor:
    """Make positions for another grid of patches: bilinear interpolation, the class token's row stays as it is.

    table: (1 + h·w, D)              row 0 is for the class token; ValueError if there are not 1 + h·w rows
    old                              (h, w), the rows and columns of patches that the table is for
    new                              (h', w'), those of the new table
    returns (1 + h'·w', D)
    """
    raise NotImplementedError("part 5: resize_positions")


# ------------------------------------------------------------------------------------------------------------
# Part 6: similarity
# ------------------------------------------------------------------------------------------------------------


def similarity(X: torch.Tensor) -> torch.Tensor:
    """Compute the dot product of each token with each token: query = key = X, not scaled, no softmax.

    X: (…, T, d)         the tokens, one in each row; a single vector (d,) raises ValueError
    returns (…, T, T)    row i has the similarities of token i
    """
    raise NotImplementedError("part 6: similarity")
