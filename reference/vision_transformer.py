"""The vision transformer: a picture is cut into patches, and a patch is a token.

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
    # BEGIN SOLUTION
    N, C, H, W = images.shape
    if H % p or W % p:
        raise ValueError(f"a picture of {H} × {W} pixels has no patches of {p} × {p}")
    h, w = H // p, W // p
    cut = images.reshape(N, C, h, p, w, p)           # (N, C, h, p, w, p)  H is (row of patches, row in the patch)
    by_patch = cut.permute(0, 2, 4, 1, 3, 5)          # (N, h, w, C, p, p)
    return by_patch.reshape(N, h * w, C * p * p)      # (N, h·w, C·p·p)
    # END SOLUTION


def unpatch(rows: torch.Tensor, p: int, grid: tuple[int, int]) -> torch.Tensor:
    """Put patches together again: the inverse of `patches`.

    rows: (N, h·w, C·p·p)            C is found from the length of a row; ValueError if it is no multiple of p·p
    p                                the rows and columns of a patch
    grid                             (h, w), the rows and columns of patches; ValueError if there are not h·w patches
    returns (N, C, H, W)             H = h·p, W = w·p
    """
    # BEGIN SOLUTION
    N, tokens, width = rows.shape
    h, w = grid
    if tokens != h * w or width % (p * p):
        raise ValueError(f"{tokens} patches of {width} numbers are no {h} × {w} patches of {p} × {p} pixels")
    C = width // (p * p)
    cut = rows.reshape(N, h, w, C, p, p)             # (N, h, w, C, p, p)
    joined = cut.permute(0, 3, 1, 4, 2, 5)           # (N, C, h, p, w, p)
    return joined.reshape(N, C, h * p, w * p)        # (N, C, H, W)
    # END SOLUTION


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
        # BEGIN SOLUTION
        H, W = size
        self.size = (H, W)
        self.p = p
        self.proj = nn.Conv2d(channels, d_model, kernel_size=p, stride=p)                  # holds weight and bias
        self.class_token = nn.Parameter(torch.zeros(d_model))                              # (D,)
        self.positions = nn.Parameter(torch.zeros(1 + (H // p) * (W // p), d_model))       # (1 + h·w, D)
        # END SOLUTION

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Make the tokens of the pictures.

        images: (N, C, H, W)             pictures of another size (H, W) raise ValueError
        returns (N, 1 + h·w, D)          the class token, then the patches row by row; positions are added to all
        """
        # BEGIN SOLUTION
        if tuple(images.shape[2:]) != self.size:
            raise ValueError(f"there are positions for pictures of {self.size} pixels only")
        rows = patches(images, self.p)                       # (N, h·w, C·p·p)
        W_E = self.proj.weight.flatten(1)                    # (D, C·p·p)  a kernel is a patch, and read like one
        tokens = rows @ W_E.T + self.proj.bias               # (N, h·w, D)
        first = self.class_token.expand(len(images), 1, -1)  # (N, 1, D)
        return torch.cat([first, tokens], dim=1) + self.positions  # (N, 1 + h·w, D)
        # END SOLUTION


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
    # BEGIN SOLUTION
    N, _, h, w = features.shape
    X = features.flatten(2).transpose(1, 2)                # (N, h·w, C)  the places row by row
    from_query = query @ W_q.T                             # (N, A)
    from_places = X @ W_x.T                                # (N, h·w, A)
    z = torch.tanh(from_query[:, None, :] + from_places)   # (N, h·w, A)
    weights = torch.softmax(z @ v, dim=1)                  # (N, h·w)
    context = (weights[:, :, None] * X).sum(dim=1)         # (N, C)
    return context, weights.reshape(N, h, w)               # (N, C), (N, h, w)
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.embed = PatchEmbedding(channels, size, p, d_model)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                d_model, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)
        # END SOLUTION

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Say how well each class fits each picture.

        images: (N, C, H, W)         pictures of another size (H, W) raise ValueError
        returns (N, n_classes)       logits; the same in train() and in eval()
        """
        # BEGIN SOLUTION
        X = self.embed(images)                # (N, 1 + h·w, D)
        for block in self.blocks:
            X = block(X)                      # (N, 1 + h·w, D)
        class_token = self.norm(X)[:, 0]      # (N, D)
        return self.head(class_token)         # (N, n_classes)
        # END SOLUTION


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
    # BEGIN SOLUTION
    h, w = old
    if len(table) != 1 + h * w:
        raise ValueError(f"a table of {len(table)} rows has not a row for each of {h} × {w} patches and one more")
    grid = table[1:].reshape(h, w, -1)                                    # (h, w, D)
    for axis, n, m in ((0, h, new[0]), (1, w, new[1])):                   # first the rows, then the columns
        i = torch.arange(m, dtype=table.dtype, device=table.device)       # (m,)    the new places
        j = torch.arange(n, dtype=table.dtype, device=table.device)       # (n,)    the old places
        u = ((i + 0.5) * n / m - 0.5).clamp(0, n - 1)                     # (m,)    where new i lies among the old
        B = (1 - (u[:, None] - j).abs()).clamp(min=0)                     # (m, n)  the two neighbours, the nearer more
        grid = torch.tensordot(B, grid.movedim(axis, 0), dims=1).movedim(0, axis)  # m in the place of n
    return torch.cat([table[:1], grid.reshape(new[0] * new[1], -1)])      # (1 + h'·w', D)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: similarity
# ------------------------------------------------------------------------------------------------------------


def similarity(X: torch.Tensor) -> torch.Tensor:
    """Compute the dot product of each token with each token: query = key = X, not scaled, no softmax.

    X: (…, T, d)         the tokens, one in each row; a single vector (d,) raises ValueError
    returns (…, T, T)    row i has the similarities of token i
    """
    # BEGIN SOLUTION
    if X.dim() < 2:
        raise ValueError("a vector does not say whether it is one token or many: give it two axes")
    return X @ X.transpose(-1, -2)       # (…, T, T)
    # END SOLUTION
