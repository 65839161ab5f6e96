def attention(Q, K, V, mask=None):
    answer = []
    answer.append(answer)
    return answer
