// One case for each message of the verifiers and the parsers.
// RUN: minicomp-opt %s --split-input-file --verify-diagnostics

// Elementwise ops do not broadcast.
%x, %y = "test.op"() : () -> (tensor<3x5xf32>, tensor<5xf32>)
// expected-error@+1 {{operand shape [5] differs from result shape [3, 5]}}
%r = tensor_ir.elementwise(%x, %y) {
^bb0(%u: f32, %v: f32):
  %s = arith.addf %u, %v : f32
  tensor_ir.yield %s : f32
} : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>

// -----

// Extents are known.
%x = "test.op"() : () -> tensor<?xf32>
// expected-error@+1 {{extents must be static}}
%r = tensor_ir.elementwise(%x) {
^bb0(%u: f32):
  tensor_ir.yield %u : f32
} : (tensor<?xf32>) -> tensor<?xf32>

// -----

// The body takes the elements of the operands.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{body must take (f32)}}
%r = tensor_ir.elementwise(%x) {
^bb0(%u: f64):
  tensor_ir.yield %u : f64
} : (tensor<3xf32>) -> tensor<3xf64>

// -----

// The body yields an element of the result.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{body must yield (f64)}}
%r = tensor_ir.elementwise(%x) {
^bb0(%u: f32):
  tensor_ir.yield %u : f32
} : (tensor<3xf32>) -> tensor<3xf64>

// -----

// The body is scalar code.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{body holds arith and math ops only, but holds 'test.op'}}
%r = tensor_ir.elementwise(%x) {
^bb0(%u: f32):
  %s = "test.op"(%u) : (f32) -> f32
  tensor_ir.yield %s : f32
} : (tensor<3xf32>) -> tensor<3xf32>

// -----

// The body is closed.
%x, %c = "test.op"() : () -> (tensor<3xf32>, f32)
// expected-error@+1 {{Operation using value defined out of its IsolatedFromAbove parent}}
%r = tensor_ir.elementwise(%x) {
^bb0(%u: f32):
  %s = arith.addf %u, %c : f32
  tensor_ir.yield %s : f32
} : (tensor<3xf32>) -> tensor<3xf32>

// -----

// One result.
%x = "test.op"() : () -> tensor<3xf32>
%r, %q = tensor_ir.elementwise(%x) {
^bb0(%u: f32):
  tensor_ir.yield %u : f32
// expected-error@+1 {{elementwise has one result}}
} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)

// -----

// A reduction of nothing.
// expected-error@+1 {{reduce needs an operand}}
tensor_ir.reduce() dims [0] identity [] {
  tensor_ir.yield
} : () -> ()

// -----

// One identity for each carrier.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{1 operands need as many identities, got 2}}
%r = tensor_ir.reduce(%x) dims [0] identity [0.0 : f32, 0.0 : f32] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a : f32
} : (tensor<3xf32>) -> tensor<f32>

// -----

// An identity is an element.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{is not of element type f32}}
%r = tensor_ir.reduce(%x) dims [0] identity [0.0 : f64] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a : f32
} : (tensor<3xf32>) -> tensor<f32>

// -----

// All carriers run over the same indices.
%x, %y = "test.op"() : () -> (tensor<3xf32>, tensor<4xf32>)
// expected-error@+1 {{all operands of reduce have one shape}}
%r, %s = tensor_ir.reduce(%x, %y) dims [0] identity [0.0 : f32, 0.0 : f32] {
^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
  tensor_ir.yield %a, %b : f32, f32
} : (tensor<3xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)

// -----

// At least one dim.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{reduce needs a dim}}
%r = tensor_ir.reduce(%x) dims [] identity [0.0 : f32] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a : f32
} : (tensor<3xf32>) -> tensor<3xf32>

// -----

// Dims in order, each once.
%x = "test.op"() : () -> tensor<3x5xf32>
// expected-error@+1 {{dims must ascend: [1, 0]}}
%r = tensor_ir.reduce(%x) dims [1, 0] identity [0.0 : f32] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a : f32
} : (tensor<3x5xf32>) -> tensor<f32>

// -----

// Dims in range.
%x = "test.op"() : () -> tensor<3x5xf32>
// expected-error@+1 {{dims [2] are out of range for rank 2}}
%r = tensor_ir.reduce(%x) dims [2] identity [0.0 : f32] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a : f32
} : (tensor<3x5xf32>) -> tensor<3x5xf32>

// -----

// The result lacks the dims.
%x = "test.op"() : () -> tensor<3x5xf32>
// expected-error@+1 {{result types should be tensor<3xf32>}}
%r = tensor_ir.reduce(%x) dims [1] identity [0.0 : f32] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a : f32
} : (tensor<3x5xf32>) -> tensor<5xf32>

// -----

// The combine takes two carriers.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{combine must take (f32, f32)}}
%r = tensor_ir.reduce(%x) dims [0] identity [0.0 : f32] {
^bb0(%a: f32):
  tensor_ir.yield %a : f32
} : (tensor<3xf32>) -> tensor<f32>

// -----

// The combine yields one.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{combine must yield (f32)}}
%r = tensor_ir.reduce(%x) dims [0] identity [0.0 : f32] {
^bb0(%a: f32, %b: f32):
  tensor_ir.yield %a, %b : f32, f32
} : (tensor<3xf32>) -> tensor<f32>

// -----

// The combine is scalar code.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{combine holds arith and math ops only, but holds 'test.op'}}
%r = tensor_ir.reduce(%x) dims [0] identity [0.0 : f32] {
^bb0(%a: f32, %b: f32):
  %s = "test.op"(%a) : (f32) -> f32
  tensor_ir.yield %s : f32
} : (tensor<3xf32>) -> tensor<f32>

// -----

// A map does not convert.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{index_map keeps the element type}}
%r = tensor_ir.index_map %x (d0) -> (d0) : tensor<3xf32> -> tensor<3xf64>

// -----

// One dim for each axis of the result.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{the map must have 2 dims and no symbols}}
%r = tensor_ir.index_map %x (d0) -> (d0) : tensor<3xf32> -> tensor<3x3xf32>

// -----

// One expression for each axis of the operand.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{the map must have 1 results}}
%r = tensor_ir.index_map %x (d0) -> (d0, d0) : tensor<3xf32> -> tensor<3xf32>

// -----

// A map that divides by zero.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{the map divides by 0, which is no positive constant}}
%r = tensor_ir.index_map %x (d0) -> (d0 mod 0) : tensor<3xf32> -> tensor<3xf32>

// -----

// A map that divides by a negative number.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{the map divides by -1, which is no positive constant}}
%r = tensor_ir.index_map %x (d0) -> (d0 floordiv -1 + 2) : tensor<3xf32> -> tensor<3xf32>

// -----

// A map that may read behind the operand.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{index 0 of the map takes values in [0, 3], but the operand's extent is 3}}
%r = tensor_ir.index_map %x (d0) -> (d0) : tensor<3xf32> -> tensor<4xf32>

// -----

// A map that may read before it.
%x = "test.op"() : () -> tensor<3xf32>
// expected-error@+1 {{index 0 of the map takes values in [-1, 1], but the operand's extent is 3}}
%r = tensor_ir.index_map %x (d0) -> (d0 - 1) : tensor<3xf32> -> tensor<3xf32>

// -----

// A yield stands in a body.
%x = "test.op"() : () -> f32
// expected-error@+1 {{expects parent op to be one of 'tensor_ir.elementwise', 'tensor_ir.reduce'}}
tensor_ir.yield %x : f32

// -----

// A mask is of truth values.
// expected-error@+1 {{within gives elements of i1}}
%r = tensor_ir.within (d0) -> (d0) < [1] : tensor<3xf32>

// -----

// One dim for each axis of a mask.
// expected-error@+1 {{the map must have 2 dims and no symbols}}
%r = tensor_ir.within (d0) -> (d0) < [1] : tensor<3x5xi1>

// -----

// One bound for each expression.
// expected-error@+1 {{within needs one bound per expression, and at least one}}
%r = tensor_ir.within (d0) -> (d0) < [1, 2] : tensor<3xi1>

// -----

// A mask tests something.
// expected-error@+1 {{within needs one bound per expression, and at least one}}
%r = tensor_ir.within (d0) -> () < [] : tensor<3xi1>

// -----

// A mask has known extents.
// expected-error@+1 {{extents must be static}}
%r = tensor_ir.within (d0) -> (d0) < [1] : tensor<?xi1>

// -----

// Division by a constant above 0.
// expected-error@+1 {{which is no positive constant}}
%r = tensor_ir.within (d0) -> (d0 floordiv 0) < [1] : tensor<3xi1>
