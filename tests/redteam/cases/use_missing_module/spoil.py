import seaborn_is_not_here as sns


def attention(Q, K, V, mask=None):
    sns.heatmap(Q)
    return V
