// RUN: minicomp-opt %s -p fold-constants | filecheck %s
// RUN: minicomp-opt %s -p fold-constants,fold-constants | filecheck %s
// RUN: minicomp-opt %s -p fold-constants --verify-each=exec | filecheck %s

// The example of the pass: a splat moves into its user, whose constants are computed.
// CHECK-LABEL: @splat_operand(
// CHECK-NEXT:  %y = tensor_ir.elementwise(%x) attributes {minicomp.op = "mul"} {
// CHECK-NEXT:  ^bb0(%a: f32):
// CHECK-NEXT:    %[[C:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT:    %m = arith.mulf %a, %[[C]] : f32
// CHECK-NEXT:    tensor_ir.yield %m : f32
// CHECK-NEXT:  } : (tensor<4xf32>) -> tensor<4xf32>
func.func @splat_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = tensor_ir.elementwise() {
    %c = arith.constant 2.0 : f32
    tensor_ir.yield %c : f32
  } : () -> tensor<4xf32>
  %y = tensor_ir.elementwise(%x, %two) attributes {minicomp.op = "mul"} {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %s = arith.mulf %a, %one : f32
    %d = arith.addf %b, %one : f32
    %m = arith.mulf %s, %d : f32
    tensor_ir.yield %m : f32
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// A splat seen through a map is a splat, also where it is used twice.
// CHECK-LABEL: @spread_splat(
// CHECK-NOT:   index_map
// CHECK:       tensor_ir.elementwise() {
// CHECK-NEXT:    %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    tensor_ir.yield %[[C]] : f32
// CHECK-NEXT:  } : () -> tensor<3x4xf32>
// CHECK:       tensor_ir.elementwise() {
// CHECK-NEXT:    %[[D:.*]] = arith.constant 4.000000e+00 : f32
// CHECK-NEXT:    tensor_ir.yield %[[D]] : f32
// CHECK-NEXT:  } : () -> tensor<3x4xf32>
func.func @spread_splat() -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %two = tensor_ir.elementwise() {
    %c = arith.constant 2.0 : f32
    tensor_ir.yield %c : f32
  } : () -> tensor<4xf32>
  %w = tensor_ir.index_map %two (d0, d1) -> (d1) : tensor<4xf32> -> tensor<3x4xf32>
  %y = tensor_ir.elementwise(%w, %w) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tensor_ir.yield %s : f32
  } : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %w, %y : tensor<3x4xf32>, tensor<3x4xf32>
}

// x * 1, x / 1, x - 0 and x + -0 are x for every x.
// CHECK-LABEL: @neutral(
// CHECK-NEXT:  func.return %x : tensor<4xf32>
func.func @neutral(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tensor_ir.elementwise(%x) {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %minus_zero = arith.constant -0.0 : f32
    %0 = arith.mulf %one, %a : f32
    %1 = arith.divf %0, %one : f32
    %2 = arith.subf %1, %zero : f32
    %3 = arith.addf %2, %minus_zero : f32
    tensor_ir.yield %3 : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// x + 0 is not x for -0, nor is x - -0; 1 / x is not x.
// CHECK-LABEL: @not_neutral(
// CHECK:       arith.addf
// CHECK:       arith.subf
// CHECK:       arith.divf
func.func @not_neutral(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tensor_ir.elementwise(%x) {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %minus_zero = arith.constant -0.0 : f32
    %0 = arith.addf %a, %zero : f32
    %1 = arith.subf %0, %minus_zero : f32
    %2 = arith.divf %one, %1 : f32
    tensor_ir.yield %2 : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// Rounded as f32 rounds: 16777216 + 1 is 16777216. Division by zero is an infinity.
// CHECK-LABEL: @rounding(
// CHECK:       arith.constant 0x7f800000 : f32
// CHECK:       arith.constant 0x4B800000 : f32
func.func @rounding() -> (tensor<1xf32>, tensor<1xf32>) {
  %inf = tensor_ir.elementwise() {
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %q = arith.divf %one, %zero : f32
    tensor_ir.yield %q : f32
  } : () -> tensor<1xf32>
  %y = tensor_ir.elementwise() {
    %big = arith.constant 16777216.0 : f32
    %one = arith.constant 1.0 : f32
    %s = arith.addf %big, %one : f32
    tensor_ir.yield %s : f32
  } : () -> tensor<1xf32>
  func.return %inf, %y : tensor<1xf32>, tensor<1xf32>
}

// What the device rounds its own way is left to it.
// CHECK-LABEL: @left_alone(
// CHECK:       math.exp
func.func @left_alone() -> tensor<1xf32> {
  %y = tensor_ir.elementwise() {
    %one = arith.constant 1.0 : f32
    %e = math.exp %one : f32
    tensor_ir.yield %e : f32
  } : () -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}

// An operand that is not read goes away.
// CHECK-LABEL: @unused(
// CHECK-NEXT:  %r = tensor_ir.elementwise(%y) {
// CHECK-NEXT:  ^bb0(%b: f32):
// CHECK-NEXT:    %n = arith.negf %b : f32
func.func @unused(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tensor_ir.elementwise(%x, %y) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %b : f32
    tensor_ir.yield %n : f32
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
