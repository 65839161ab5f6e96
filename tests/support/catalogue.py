"""Named mistakes in the functions of `lecture`, registered as a homework registers its own."""

import torch

from softmark.verdict import Registry, collecting, mistake
from tests.support import lecture as ref

REGISTRY = Registry()
"""Filled below."""

with collecting(REGISTRY):

    @mistake(ref.scores, says="Your scores are not scaled.", hint="Look at the width of the keys.", id="S01")
    def no_scale(Q, K):
        return Q @ K.transpose(-1, -2)

    @mistake(ref.scores, says="You divide by d_k instead of its root.", hint="Which power of d_k?", worth=0.5)
    def scale_without_root(Q, K):
        return Q @ K.transpose(-1, -2) / K.shape[-1]

    @mistake(ref.scores, says="Row i must be query i.")
    def keys_by_queries(Q, K):
        return K @ Q.transpose(-1, -2) / K.shape[-1] ** 0.5

    @mistake(ref.softmax_rows, says="Your columns sum to one.", hint="Along which axis are the keys?")
    def softmax_over_queries(S):
        return torch.softmax(S, -2)

    @mistake(ref.softmax_rows, says="Large scores overflow.")
    def softmax_overflow(S):
        return torch.exp(S) / torch.exp(S).sum(-1, keepdim=True)

    @mistake(ref.softmax_rows, says="Dropout is never off.")
    def softmax_with_dropout(S):
        return torch.dropout(torch.softmax(S, -1), 0.5, True)

    @mistake(ref.softmax_rows, says="Your function always fails.")
    def softmax_that_raises(S):
        raise RuntimeError("never fits")

    @mistake(ref.masked_softmax, says="Your fill value is too small.", hint="What is exp(-10)?")
    def fill_ten(S, mask):
        return torch.softmax(S.masked_fill(~mask, -10.0), -1)

    @mistake(ref.masked_softmax, says="Your fill value is too small, still.", hint="What is exp(-100)?")
    def fill_hundred(S, mask):
        return torch.softmax(S.masked_fill(~mask, -100.0), -1)

    @mistake(ref.masked_softmax, says="Your mask is inverted.")
    def inverted_mask(S, mask):
        return ref.softmax_rows(S.masked_fill(mask, -1e9)).masked_fill(mask, 0.0)

    @mistake(ref.attention, says="You weigh the keys, not the values.")
    def keys_as_values(Q, K, V, mask=None):
        A = ref.softmax_rows(ref.scores(Q, K))
        return A @ K, A

    @mistake(ref.attention, says="Output and weights are exchanged.")
    def weights_first(Q, K, V, mask=None):
        S = ref.scores(Q, K)
        A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
        return A, A @ V

    @mistake(ref.SelfAttention.forward, says="You forgot the mask.")
    def module_without_mask(self, X, mask=None):
        Q, K = self.project(X)
        return ref.attention(Q, K, X)[0]

    @mistake(ref.SelfAttention.project, says="Queries and keys are exchanged.")
    def module_with_exchanged_weights(self, X):
        return X @ self.W_K + self.bias, X @ self.W_Q

    @mistake(ref.SelfAttention, says="The bias is added twice.")
    class BiasTwice(ref.SelfAttention):
        def project(self, X):
            Q, K = super().project(X)
            return Q + self.bias, K
