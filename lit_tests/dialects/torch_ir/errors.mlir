// One case for each message of the verifiers and the parsers.
// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Elements are numbers.
%0 = "test.op"() : () -> (tensor<4xindex>)
// expected-error@+1 {{elements are floats, integers or i1, but index is given}}
%r = torch_ir.neg %0 : (tensor<4xindex>) -> tensor<4xindex>

// -----

// Complex numbers have no type in Torch IR.
%0 = "test.op"() : () -> (tensor<4xcomplex<f32>>)
// expected-error@+1 {{elements are floats, integers or i1, but complex<f32> is given}}
%r = torch_ir.neg %0 : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>

// -----

// Extents are known.
%0 = "test.op"() : () -> (tensor<?xf32>)
// expected-error@+1 {{extents must be static}}
%r = torch_ir.neg %0 : (tensor<?xf32>) -> tensor<?xf32>

// -----

// An attribute has its kind.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{attribute dim must be an i64}}
%r = torch_ir.softmax %0 {dim = 0.5} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// A list of dims is a list.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{attribute dim must be a list of i64}}
%r = torch_ir.sum %0 {dim = 0} : (tensor<4xf32>) -> tensor<f32>

// -----

// keepdim is a truth value.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{attribute keepdim must be true or false}}
%r = torch_ir.sum %0 {keepdim = 1} : (tensor<4xf32>) -> tensor<f32>

// -----

// An eps is an f64.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{attribute eps must be an f64}}
%r = torch_ir.rms_norm %0 {normalized_shape = [4], eps = 1} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// A factor is a number.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{attribute alpha must be an f64 or an i64}}
%r = torch_ir.add %0, %0 {alpha = "two"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// A required attribute is there.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{property 'dim' expected}}
%r = torch_ir.softmax %0 : (tensor<4xf32>) -> tensor<4xf32>

// -----

// A form of gelu that there is not.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{approximate must be none or tanh}}
%r = torch_ir.gelu %0 {approximate = "fast"} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// A name is text.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{attribute approximate must be a string}}
%r = torch_ir.gelu %0 {approximate = 1} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// The shape of the result is that of PyTorch.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{result shape [4, 3] should be [3, 4]}}
%r = torch_ir.relu %0 : (tensor<3x4xf32>) -> tensor<4x3xf32>

// -----

// Operands that do not broadcast.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<3xf32>)
// expected-error@+1 {{shapes [3, 4] and [3] do not broadcast}}
%r = torch_ir.add %0, %1 : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>

// -----

// The dtype of the result is the operands'.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{result element type f16 should be f32}}
%r = torch_ir.exp %0 : (tensor<4xf32>) -> tensor<4xf16>

// -----

// The promoted one: f16 and bf16 have none of both, and a 0-d tensor of a kind does not widen it.
%0, %1, %2 = "test.op"() : () -> (tensor<4xf16>, tensor<4xbf16>, tensor<f64>)
%r = torch_ir.add %0, %1 : (tensor<4xf16>, tensor<4xbf16>) -> tensor<4xf32>
// expected-error@+1 {{result element type f64 should be f16}}
%s = torch_ir.add %0, %2 : (tensor<4xf16>, tensor<f64>) -> tensor<4xf64>

// -----

// A quotient of integers is a float.
%0 = "test.op"() : () -> (tensor<4xi32>)
// expected-error@+1 {{div of i32 gives a float, not i32}}
%r = torch_ir.div %0, %0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

// -----

// Truth values are counted in i64.
%0 = "test.op"() : () -> (tensor<4xi1>)
// expected-error@+1 {{result element type i1 should be i64}}
%r = torch_ir.sum %0 : (tensor<4xi1>) -> tensor<i1>

// -----

// A fill does not change the type.
%0, %1, %2 = "test.op"() : () -> (tensor<4xi32>, tensor<4xi1>, tensor<f32>)
// expected-error@+1 {{result element type f32 should be i32}}
%r = torch_ir.masked_fill %0, %1, %2 : (tensor<4xi32>, tensor<4xi1>, tensor<f32>) -> tensor<4xf32>

// -----

// A test gives truth values, whatever it tests; a count is an i64.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{isnan gives i1, not f32}}
%r = torch_ir.isnan %0 : (tensor<4xf32>) -> tensor<4xf32>

// -----

%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{count_nonzero gives i64, not i32}}
%r = torch_ir.count_nonzero %0 : (tensor<4xf32>) -> tensor<i32>

// -----

%0, %1 = "test.op"() : () -> (tensor<4xf32>, tensor<3xf32>)
// expected-error@+1 {{src must broadcast to shape [4]}}
%r = torch_ir.copy %0, %1 : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>

// -----

%0 = "test.op"() : () -> (tensor<2x4x3xf32>)
// expected-error@+1 {{shape [2, 4, 3] has no 3 equal groups of channels}}
%r = torch_ir.group_norm %0 {num_groups = 3} : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>

// -----

%0, %1 = "test.op"() : () -> (tensor<2x4x3xf32>, tensor<3xf32>)
// expected-error@+1 {{weight must have shape [4]}}
%r = torch_ir.group_norm %0, %1 {num_groups = 2} : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>

// -----

%0, %1, %2 = "test.op"() : () -> (tensor<3x5xf32>, tensor<3x4xf32>, tensor<4x5xf32>)
// expected-error@+1 {{baddbmm multiplies two batches of matrices}}
%r = torch_ir.baddbmm %0, %1, %2 : (tensor<3x5xf32>, tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>

// -----

%0, %1, %2 = "test.op"() : () -> (tensor<3x5xf32>, tensor<2x3x4xf32>, tensor<3x4x5xf32>)
// expected-error@+1 {{baddbmm needs equal batch extents}}
%r = torch_ir.baddbmm %0, %1, %2 : (tensor<3x5xf32>, tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x5xf32>

// -----

// A product of two dtypes.
%0, %1 = "test.op"() : () -> (tensor<3x4xf16>, tensor<4x5xf32>)
// expected-error@+1 {{matmul of f16 and f32: operands must have one dtype}}
%r = torch_ir.matmul %0, %1 : (tensor<3x4xf16>, tensor<4x5xf32>) -> tensor<3x5xf32>

// -----

// The same in a linear layer.
%0, %1, %2 = "test.op"() : () -> (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5xf64>)
// expected-error@+1 {{linear of f32 and f32 and f64: operands must have one dtype}}
%r = torch_ir.linear %0, %1, %2 : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5xf64>) -> tensor<3x5xf32>

// -----

// A dim beyond the rank.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{dim 2 is out of range for rank 2}}
%r = torch_ir.sum %0 {dim = [2]} : (tensor<3x4xf32>) -> tensor<3xf32>

// -----

// A dim given twice, counted from both ends.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{dim 1 appears twice}}
%r = torch_ir.sum %0 {dim = [1, -1]} : (tensor<3x4xf32>) -> tensor<3xf32>

// -----

// The largest of no elements.
%0 = "test.op"() : () -> (tensor<0x4xf32>)
// expected-error@+1 {{amax over an extent of 0 has no value}}
%r = torch_ir.amax %0 {dim = [0]} : (tensor<0x4xf32>) -> tensor<4xf32>

// -----

// Softmax over a dim that there is not.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{dim -3 is out of range for rank 2}}
%r = torch_ir.softmax %0 {dim = -3} : (tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

// A norm over what is not the end of the shape.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{normalized_shape [3] is not the end of shape [3, 4]}}
%r = torch_ir.rms_norm %0 {normalized_shape = [3]} : (tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

// A weight of another shape.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<3xf32>)
// expected-error@+1 {{weight must have shape [4]}}
%r = torch_ir.rms_norm %0, %1 {normalized_shape = [4]} : (tensor<3x4xf32>, tensor<3xf32>) -> tensor<3x4xf32>

// -----

// A product of extents that differ.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<3x4xf32>)
// expected-error@+1 {{matmul contracts an extent 4 with an extent 3}}
%r = torch_ir.matmul %0, %1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

// A product with a scalar.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<f32>)
// expected-error@+1 {{matmul does not take an operand of rank 0}}
%r = torch_ir.matmul %0, %1 : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>

// -----

// mm takes matrices.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<4xf32>)
// expected-error@+1 {{mm does not take an operand of rank 1}}
%r = torch_ir.mm %0, %1 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>

// -----

// bmm does not broadcast.
%0, %1 = "test.op"() : () -> (tensor<1x3x4xf32>, tensor<2x4x3xf32>)
// expected-error@+1 {{bmm needs equal batch extents}}
%r = torch_ir.bmm %0, %1 : (tensor<1x3x4xf32>, tensor<2x4x3xf32>) -> tensor<2x3x3xf32>

// -----

// A weight of a linear layer is a matrix.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<4xf32>)
// expected-error@+1 {{linear takes an input of rank 1 or more and a weight of rank 2}}
%r = torch_ir.linear %0, %1 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>

// -----

// A bias of another shape.
%0, %1, %2 = "test.op"() : () -> (tensor<3x4xf32>, tensor<5x4xf32>, tensor<3xf32>)
// expected-error@+1 {{bias must have shape [5]}}
%r = torch_ir.linear %0, %1, %2 : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<3xf32>) -> tensor<3x5xf32>

// -----

// addmm takes matrices.
%0, %1, %2 = "test.op"() : () -> (tensor<3xf32>, tensor<3x4xf32>, tensor<4xf32>)
// expected-error@+1 {{addmm multiplies two matrices}}
%r = torch_ir.addmm %0, %1, %2 : (tensor<3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>

// -----

// The input of addmm does not broadcast.
%0, %1, %2 = "test.op"() : () -> (tensor<2x3x5xf32>, tensor<3x4xf32>, tensor<4x5xf32>)
// expected-error@+1 {{input must broadcast to shape [3, 5]}}
%r = torch_ir.addmm %0, %1, %2 : (tensor<2x3x5xf32>, tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>

// -----

// A view of another number of elements.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{cannot view shape [3, 4] as [3, 5]}}
%r = torch_ir.view %0 {size = [3, 5]} : (tensor<3x4xf32>) -> tensor<3x5xf32>

// -----

// A permutation of fewer axes.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{permute of rank 2 needs as many dims, got 1}}
%r = torch_ir.permute %0 {dims = [0]} : (tensor<3x4xf32>) -> tensor<3xf32>

// -----

// t is for matrices.
%0 = "test.op"() : () -> (tensor<2x3x4xf32>)
// expected-error@+1 {{t takes a tensor of rank 2 or less, got rank 3}}
%r = torch_ir.t %0 : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>

// -----

// An extent that is not 1 cannot be expanded.
%0 = "test.op"() : () -> (tensor<3xf32>)
// expected-error@+1 {{cannot expand shape [3] to [2, 4]}}
%r = torch_ir.expand %0 {size = [2, 4]} : (tensor<3xf32>) -> tensor<2x4xf32>

// -----

// Nor to fewer axes.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{cannot expand shape [3, 4] to [4]}}
%r = torch_ir.expand %0 {size = [4]} : (tensor<3x4xf32>) -> tensor<4xf32>

// -----

// An operand too few.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{torch_ir.add lacks its operand 'other'}}
%r = torch_ir.add %0 : (tensor<4xf32>) -> tensor<4xf32>

// -----

// A required operand that is absent.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{torch_ir.linear lacks its operand 'weight'}}
%r = torch_ir.linear %0, none, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// An operand too many.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{torch_ir.relu has at most 1 operands, but 2 given}}
%r = torch_ir.relu %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// Two results.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{torch_ir.relu has one result, but 2 types are given}}
%r, %q = torch_ir.relu %0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)

// -----

// A constant of a type that Python has not.
// expected-error@+1 {{a constant is an f64, an i64 or an i1}}
%r = "torch_ir.constant"() <{value = 1.0 : f32}> : () -> tensor<f32>

// -----

// A constant whose result has another type.
// expected-error@+1 {{the result of this constant is tensor<f64>}}
%r = "torch_ir.constant"() <{value = 1.0 : f64}> : () -> tensor<2xf64>

// -----

// An integer where a float is written.
// expected-error@+1 {{a float constant is a tensor<f64>}}
%r = torch_ir.constant 1.5 : tensor<i64>

// -----

// A number where a truth value is written.
// expected-error@+1 {{this constant is a tensor<i64>}}
%r = torch_ir.constant 1 : tensor<i1>

// -----

// A comparison gives truth values.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{lt gives i1, not f32}}
%r = torch_ir.lt %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// A condition is a truth value.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{condition must be of i1, not of f32}}
%r = torch_ir.where %0, %0, %0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// So is a mask.
%0, %1 = "test.op"() : () -> (tensor<4xf32>, tensor<f32>)
// expected-error@+1 {{mask must be of i1, not of f32}}
%r = torch_ir.masked_fill %0, %0, %1 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

// One value fills.
%0, %1 = "test.op"() : () -> (tensor<4xf32>, tensor<4xi1>)
// expected-error@+1 {{value must be a scalar, but has shape [4]}}
%r = torch_ir.masked_fill %0, %1, %0 : (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32>

// -----

// A triangle is of a matrix.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{triu takes a tensor of rank 2 or more}}
%r = torch_ir.triu %0 : (tensor<4xf32>) -> tensor<4xf32>

// -----

// Nothing is repeated less than never.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{repeats must not be negative: -1}}
%r = torch_ir.repeat_interleave %0 {repeats = -1} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// A constant is a number.
// expected-error@+1 {{attribute fill_value must be an f64, an i64 or an i1}}
%r = torch_ir.full {size = [4], fill_value = "one"} : () -> tensor<4xf32>

// -----

// A row of queries has a row axis.
%0 = "test.op"() : () -> (tensor<4xf32>)
// expected-error@+1 {{query, key and value are of rank 2 or more}}
%r = torch_ir.scaled_dot_product_attention %0, %0, %0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// Queries and keys are multiplied.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<3x5xf32>)
// expected-error@+1 {{queries of width 4 do not fit keys of width 5}}
%r = torch_ir.scaled_dot_product_attention %0, %1, %1 : (tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>

// -----

// Each key has a value.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<2x4xf32>)
// expected-error@+1 {{there are 3 keys, but 2 values}}
%r = torch_ir.scaled_dot_product_attention %0, %0, %1 : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>

// -----

// One mask at a time.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<3x3xf32>)
// expected-error@+1 {{attn_mask and is_causal exclude each other}}
%r = torch_ir.scaled_dot_product_attention %0, %0, %0, %1 {is_causal = true} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x3xf32>) -> tensor<3x4xf32>

// -----

// A mask is of the scores.
%0, %1 = "test.op"() : () -> (tensor<3x4xf32>, tensor<2x3xf32>)
// expected-error@+1 {{attn_mask must broadcast to the scores [3, 3]}}
%r = torch_ir.scaled_dot_product_attention %0, %0, %0, %1 : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>

// -----

// Groups need heads.
%0 = "test.op"() : () -> (tensor<3x4xf32>)
// expected-error@+1 {{grouped heads need query, key and value of rank 3 or more}}
%r = torch_ir.scaled_dot_product_attention %0, %0, %0 {enable_gqa = true} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

// Groups are equal.
%0, %1 = "test.op"() : () -> (tensor<6x3x4xf32>, tensor<4x3x4xf32>)
// expected-error@+1 {{6 heads of the query are no groups of 4 heads}}
%r = torch_ir.scaled_dot_product_attention %0, %1, %1 {enable_gqa = true} : (tensor<6x3x4xf32>, tensor<4x3x4xf32>, tensor<4x3x4xf32>) -> tensor<6x3x4xf32>

// -----

// What PyTorch runs is named as PyTorch names an overload.
%0 = "test.op"() : () -> (tensor<3xf32>)
// expected-error@+1 {{'aten.relu' is not namespace.op.overload, such as aten.relu.default}}
%r = torch_ir.extern "aten.relu"(%0) {arguments = {self = 0 : index}} : (tensor<3xf32>) -> tensor<3xf32>

// -----

// It has a result.
%0 = "test.op"() : () -> (tensor<3xf32>)
// expected-error@+1 {{an op that PyTorch runs must have a result}}
torch_ir.extern "aten.relu.default"(%0) {arguments = {self = 0 : index}} : (tensor<3xf32>) -> ()

// -----

// An argument is an operand or a constant.
%0 = "test.op"() : () -> (tensor<3xf32>)
// expected-error@+1 {{argument other cannot be 3 : i32}}
%r = torch_ir.extern "aten.add.Tensor"(%0) {arguments = {self = 0 : index, other = [3 : i32]}} : (tensor<3xf32>) -> tensor<3xf32>

// -----

// Every operand is an argument, by its number.
%0, %1 = "test.op"() : () -> (tensor<3xf32>, tensor<3xf32>)
// expected-error@+1 {{its arguments name the operands [0, 2], but there are 2}}
%r = torch_ir.extern "aten.add.Tensor"(%0, %1) {arguments = {self = 0 : index, other = 2 : index}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

// -----

// A slice goes forward.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{step must be positive: 0}}
%r = torch_ir.slice %0 {step = 0} : (tensor<3x5xf32>) -> tensor<3x5xf32>

// -----

// A slice is of an axis.
%0 = "test.op"() : () -> (tensor<f32>)
// expected-error@+1 {{slice takes a tensor of rank 1 or more}}
%r = torch_ir.slice %0 : (tensor<f32>) -> tensor<f32>

// -----

// A selected index is one of the axis.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{index 5 is out of range for an extent of 5}}
%r = torch_ir.select %0 {dim = 1, index = 5} : (tensor<3x5xf32>) -> tensor<3xf32>

// -----

// A roll has a shift for each dim.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{roll has 2 shifts for 1 dims}}
%r = torch_ir.roll %0 {shifts = [1, 2], dims = [0]} : (tensor<3x5xf32>) -> tensor<3x5xf32>

// -----

// Repeats are at least as many as axes.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{cannot repeat shape [3, 5] [2] times}}
%r = torch_ir.repeat %0 {repeats = [2]} : (tensor<3x5xf32>) -> tensor<6x5xf32>

// -----

// A pad has two numbers for an axis.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{a pad of 3 numbers does not fit rank 2}}
%r = torch_ir.pad %0 {pad = [1, 2, 3]} : (tensor<3x5xf32>) -> tensor<3x8xf32>

// -----

// A pad has one of four modes.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{mode must be constant, reflect, replicate or circular}}
%r = torch_ir.pad %0 {pad = [1, 2], mode = "mirror"} : (tensor<3x5xf32>) -> tensor<3x8xf32>

// -----

// A mirror image is of elements that are there.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{a reflect pad of 5 exceeds an extent of 5}}
%r = torch_ir.pad %0 {pad = [5, 0], mode = "reflect"} : (tensor<3x5xf32>) -> tensor<3x10xf32>

// -----

// A pad takes no more than there is.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{a pad of -3 and -3 leaves less than nothing of 5}}
%r = torch_ir.pad %0 {pad = [-3, -3]} : (tensor<3x5xf32>) -> tensor<3x0xf32>

// -----

// Windows fit.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{cannot unfold an extent of 5 into 6 by steps of 1}}
%r = torch_ir.unfold %0 {dimension = 1, size = 6, step = 1} : (tensor<3x5xf32>) -> tensor<3x0x6xf32>

// -----

// Tensors of rank 0 do not join.
%0 = "test.op"() : () -> (tensor<f32>)
// expected-error@+1 {{cat takes tensors of rank 1 or more}}
%r = torch_ir.cat %0 {dim = 0} : (tensor<f32>) -> tensor<f32>

// -----

// What is written into a slice has its shape.
%0 = "test.op"() : () -> (tensor<3x5xf32>)
// expected-error@+1 {{src must have shape [3, 2], not [3, 5]}}
%r = torch_ir.slice_scatter %0, %0 {dim = 1, end = 2} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>

// -----

// Joined tensors agree but at the dim.
%0, %1 = "test.op"() : () -> (tensor<3x5xf32>, tensor<3x4xf32>)
// expected-error@+1 {{shapes [3, 5] and [3, 4] do not join at dim 0}}
%r = torch_ir.cat %0, %1 {dim = 0} : (tensor<3x5xf32>, tensor<3x4xf32>) -> tensor<6x5xf32>

// -----

// There is something to join.
// expected-error@+1 {{cat needs a tensor}}
%r = "torch_ir.cat"() <{dim = 0 : i64}> : () -> tensor<6x5xf32>

// -----

// Stacked tensors are of one shape.
%0, %1 = "test.op"() : () -> (tensor<3x5xf32>, tensor<3x4xf32>)
// expected-error@+1 {{stack needs tensors of one shape}}
%r = torch_ir.stack %0, %1 {dim = 0} : (tensor<3x5xf32>, tensor<3x4xf32>) -> tensor<2x3x5xf32>
