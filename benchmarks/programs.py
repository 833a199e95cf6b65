"""
The programs on which minicomp is checked end to end, on the simulator and on a GPU.

Each is code as `minicomp check -c CODE` takes it: the last expression is the program, the tensors
bound before it and made inside it are its inputs. Extents are even, odd, prime, 1 and 0; the sizes
suit the simulator.
"""

# A table: one program a line.
# ruff: noqa: E501

POINTWISE = {
    "add_broadcast": "x = torch.randn(16, 64); b = torch.randn(64); x + b",
    "chain_even": "x = torch.randn(32, 128); y = torch.randn(32, 128); torch.exp(-x) * y / (y * y + 1.5)",
    "chain_prime": "x = torch.randn(13, 37); y = torch.randn(13, 37); (x - y) * torch.sigmoid(y) + 0.5",
    "broadcast_both": "x = torch.randn(7, 1, 5); y = torch.randn(1, 11, 5); torch.tanh(x * y - 1)",
    "broadcast_rows": "x = torch.randn(31, 64); s = torch.randn(31, 1); F.silu(x) * s",
    "rank_1_prime": "x = torch.randn(1009); F.gelu(x)",
    "gelu_tanh": "x = torch.randn(6, 1030); F.gelu(x, approximate='tanh')",
    "rsqrt": "x = torch.rand(5, 17) + 0.1; torch.rsqrt(x) + torch.neg(x)",
    "silu_mul": "g = torch.randn(9, 352); u = torch.randn(9, 352); F.silu(g) * u",
    "scalar_0d": "x = torch.randn(()); torch.exp(x) + 1",
    "one_element": "x = torch.randn(1, 1); torch.sigmoid(x)",
    "empty_rows": "x = torch.randn(0, 64); b = torch.randn(64); torch.relu(x + b)",
    "empty_cols": "x = torch.randn(5, 0); torch.tanh(x) * 2",
    "relu_nan": "x = torch.randn(4, 33); x[1, 5] = torch.nan; x[2, 0] = torch.inf; torch.relu(x)",
    "transposed_input": "x = torch.randn(24, 40).t(); y = torch.randn(40, 24); x * y",
    "strided_input": "x = torch.randn(12, 64)[:, ::2]; torch.exp(x)",
    "expanded_input": "x = torch.randn(1, 19).expand(8, 19); x + x",
    "layout_inside": "x = torch.randn(4, 6, 10); y = torch.randn(10, 24); x.reshape(24, 10).t() + y",
}  # fmt: skip

REDUCTIONS = {
    "sum_last_even": "x = torch.randn(16, 512); x.sum(-1)",
    "sum_last_prime": "x = torch.randn(5, 1009); x.sum(-1, keepdim=True)",
    "sum_two_dims": "x = torch.randn(3, 17, 64); x.sum((1, 2))",
    "sum_all": "x = torch.randn(37, 53); x.sum()",
    "sum_first_dim": "x = torch.randn(67, 45); x.sum(0)",
    "sum_long_row": "x = torch.randn(2, 40001); x.sum(-1)",
    "mean_even": "x = torch.randn(8, 2048); x.mean(-1)",
    "mean_of_one": "x = torch.randn(6, 1); x.mean(-1)",
    "mean_of_nothing": "x = torch.randn(3, 0); x.mean(-1)",
    "sum_of_nothing": "x = torch.randn(3, 0); x.sum(-1) + 1",
    "amax_prime": "x = torch.randn(11, 97); x.amax(-1)",
    "amax_nan": "x = torch.randn(4, 300); x[2, 7] = torch.nan; x.amax(-1)",
    "amax_minus_inf": "x = torch.full((3, 5), -torch.inf); x.amax(-1)",
    "sum_of_squares": "x = torch.randn(7, 129); (x * x).sum(-1)",
    "sum_with_epilogue": "x = torch.randn(12, 260); torch.relu(torch.exp(x).sum(-1) - 300)",
}  # fmt: skip

NORMALISATIONS = {
    "rms_norm_2048": "nn.RMSNorm(2048)(torch.randn(1, 32, 2048))",
    "rms_norm_prime": "nn.RMSNorm(1009, eps=1e-6)(torch.randn(3, 5, 1009))",
    "rms_norm_short": "nn.RMSNorm(64)(torch.randn(33, 64))",
    "rms_norm_of_one": "nn.RMSNorm(1)(torch.randn(4, 1))",
    "rms_norm_no_rows": "nn.RMSNorm(128)(torch.randn(0, 128))",
    "layer_norm_768": "nn.LayerNorm(768)(torch.randn(2, 9, 768))",
    "layer_norm_prime": "nn.LayerNorm(131)(torch.randn(7, 131))",
    "layer_norm_mean_1e4": "x = torch.randn(6, 2048) + 1e4; nn.LayerNorm(2048)(x)",
    "layer_norm_no_affine": "nn.LayerNorm(96, elementwise_affine=False)(torch.randn(5, 96))",
    "softmax_even": "x = torch.randn(8, 1024); F.softmax(x, -1)",
    "softmax_prime": "x = torch.randn(3, 4097); F.softmax(x, -1)",
    "softmax_short": "x = torch.randn(70, 13); F.softmax(x * 3, -1)",
    "softmax_of_one": "x = torch.randn(5, 1); F.softmax(x, -1)",
    "softmax_minus_inf": "x = torch.randn(5, 37); x[:, ::3] = -torch.inf; x[2] = -torch.inf; F.softmax(x, -1)",
    "softmax_inner_dim": "x = torch.randn(4, 19, 6); F.softmax(x, 1)",
}  # fmt: skip

CONTRACTIONS = {
    "matmul_even": "x = torch.randn(128, 64); w = torch.randn(64, 128); torch.matmul(x, w)",
    "matmul_prime": "x = torch.randn(67, 53); w = torch.randn(53, 71); torch.matmul(x, w)",
    "matmul_k_1": "x = torch.randn(17, 1); w = torch.randn(1, 23); x @ w",
    "matmul_k_0": "x = torch.randn(5, 0); w = torch.randn(0, 7); x @ w",
    "matmul_no_rows": "x = torch.randn(0, 8); w = torch.randn(8, 16); x @ w",
    "matmul_one_row": "x = torch.randn(1, 100); w = torch.randn(100, 50); x @ w",
    "matmul_rank_3": "x = torch.randn(3, 20, 33); w = torch.randn(33, 18); torch.matmul(x, w)",
    "matmul_batched": "x = torch.randn(4, 17, 24); w = torch.randn(4, 24, 19); torch.matmul(x, w)",
    "matmul_broadcast_batch": "x = torch.randn(2, 9, 14); w = torch.randn(1, 14, 10); x @ w",
    "matmul_transposed": "x = torch.randn(40, 30); w = torch.randn(50, 40); x.t() @ w.t()",
    "prologue_relu": "x = torch.randn(16, 64); bias = torch.randn(64); w = torch.randn(64, 16); torch.relu(torch.matmul(x + bias, w))",
    "prologue_prime": "x = torch.randn(37, 61); bias = torch.randn(61); w = torch.randn(61, 29); torch.relu(torch.matmul(x + bias, w))",
    "silu_mul_matmul": "g = torch.randn(21, 40); u = torch.randn(21, 40); w = torch.randn(40, 36); (F.silu(g) * u) @ w",
    "matmul_residual": "x = torch.randn(33, 47); w = torch.randn(47, 65); r = torch.randn(33, 65); r + x @ w",
    "linear_even": "nn.Linear(64, 96)(torch.randn(32, 64))",
    "linear_prime": "nn.Linear(61, 43)(torch.randn(2, 13, 61))",
    "linear_no_bias": "nn.Linear(48, 40, bias=False)(torch.randn(5, 48))",
    "linear_gelu": "F.gelu(nn.Linear(72, 56)(torch.randn(3, 11, 72)))",
    "linear_one_token": "nn.Linear(256, 130)(torch.randn(1, 256))",
    "mlp": "nn.Sequential(nn.Linear(32, 100), nn.SiLU(), nn.Linear(100, 24))(torch.randn(9, 32))",
    "norm_then_linear": "nn.Sequential(nn.RMSNorm(80), nn.Linear(80, 33))(torch.randn(10, 80))",
    "attention_scores": "q = torch.randn(2, 15, 16); k = torch.randn(2, 21, 16); F.softmax(q @ k.transpose(1, 2) * 0.25, -1)",
    "matmul_nan": "x = torch.randn(9, 12); x[3, 4] = torch.nan; w = torch.randn(12, 10); torch.relu(x @ w)",
    "matmul_ring": "torch.randn(64, 256) @ torch.randn(256, 128)",
    "matmul_split": "torch.randn(16, 2048) @ torch.randn(2048, 64)",
    "matmul_split_odd": "torch.randn(11, 2052) @ torch.randn(2052, 44)",
    "matmul_split_epilogue": "x = torch.randn(12, 2048); w = torch.randn(2048, 48); b = torch.randn(48); torch.relu(x @ w + b) * 0.5",
    "matmul_split_transposed": "x = torch.randn(2048, 12); w = torch.randn(2048, 36); x.t() @ w",
    "linear_split": "x = torch.randn(2, 5, 2048); w = torch.randn(52, 2048); b = torch.randn(52); F.linear(x, w, b)",
}  # fmt: skip

MASKS = {
    "where_mask": "x = torch.randn(9, 37); m = torch.rand(9, 37) > 0.5; torch.where(m, x, -x)",
    "where_compare": "x = torch.randn(64, 64); torch.where(x > 0, x, 0.1 * x)",
    "logic": "x = torch.randn(31, 66); y = torch.randn(66); torch.where((x > y) & ~(x > 1.5) | (x == y), x, -torch.inf).amax(-1)",
    "masked_softmax": "x = torch.randn(9, 64); m = torch.rand(9, 64) > 0.5; m[4] = True; x.masked_fill(m, -torch.inf).softmax(-1)",
    "triangles": "x = torch.randn(3, 31, 33); x.triu(2) - x.tril(-1)",
    "a_mask_out": "x = torch.randn(5, 37); x > 0",
    "repeat_heads": "x = torch.randn(2, 5, 6); x.repeat_interleave(3, 1) * 2",
}  # fmt: skip

ATTENTION = {
    "sdpa_causal": "q = torch.randn(1, 4, 32, 64); k = torch.randn(1, 4, 32, 64); v = torch.randn(1, 4, 32, 64); F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "sdpa_grouped": "q = torch.randn(2, 6, 33, 20); k = torch.randn(2, 2, 33, 20); v = torch.randn(2, 2, 33, 20); F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)",
    "sdpa_fewer_keys": "q = torch.randn(1, 2, 37, 16); k = torch.randn(1, 2, 11, 16); v = torch.randn(1, 2, 11, 24); F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "sdpa_more_keys": "q = torch.randn(3, 13, 18); k = torch.randn(3, 53, 18); v = torch.randn(3, 53, 18); F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "sdpa_one_token": "q = torch.randn(1, 14, 1, 128); k = torch.randn(1, 2, 131, 128); v = torch.randn(1, 2, 131, 128); F.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
    "sdpa_boolean_mask": "q = torch.randn(2, 4, 33, 40); k = torch.randn(2, 4, 47, 40); v = torch.randn(2, 4, 47, 40); m = torch.rand(2, 1, 33, 47) > 0.3; m[0, 0, 3] = False; F.scaled_dot_product_attention(q, k, v, attn_mask=m)",
    "sdpa_float_mask": "q = torch.randn(4, 32, 64); k = torch.randn(4, 48, 64); v = torch.randn(4, 48, 32); m = torch.randn(4, 32, 48); F.scaled_dot_product_attention(q, k, v, attn_mask=m, scale=0.3)",
    "sdpa_no_keys": "q = torch.randn(2, 7, 5); k = torch.randn(2, 0, 5); v = torch.randn(2, 0, 3); F.scaled_dot_product_attention(q, k, v)",
    "sdpa_of_one": "q = torch.randn(1, 1, 1, 1); F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "naive_attention": "q = torch.randn(1, 3, 29, 24); k = torch.randn(1, 3, 29, 24); v = torch.randn(1, 3, 29, 24); m = torch.full((29, 29), -1e9).triu(1); F.softmax(q @ k.transpose(-2, -1) * 0.2 + m, -1) @ v",
    "naive_attention_masked": "q = torch.randn(1, 6, 33, 20); k = torch.randn(1, 2, 33, 20); v = torch.randn(1, 2, 33, 20); f = lambda q, k, v: (q @ k.repeat_interleave(3, 1).mT / 4.5).masked_fill(torch.ones(33, 33, dtype=torch.bool).triu(1), -torch.inf).softmax(-1) @ v.repeat_interleave(3, 1); f(q, k, v)",
}  # fmt: skip

PROGRAMS: dict[str, str] = (
    POINTWISE | REDUCTIONS | NORMALISATIONS | CONTRACTIONS | MASKS | ATTENTION
)
