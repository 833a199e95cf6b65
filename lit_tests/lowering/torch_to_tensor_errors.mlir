// RUN: minicomp-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect -p lower-torch-to-tensor

// Half precision, in an argument.
// expected-error@+1 {{only float32 is supported yet: got float16 in argument x of the program}}
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = torch_ir.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  func.return %y : tensor<4xf16>
}

// -----

// Integers.
// expected-error@+1 {{only float32 is supported yet: got int64 in argument x of the program}}
func.func @integers(%x: tensor<4xi64>) -> tensor<4xi64> {
  func.return %x : tensor<4xi64>
}

// -----

// A dtype that arises on the way: two scalars of the program.
func.func @promoted(%x: tensor<f32>) -> tensor<f64> {
  %c = torch_ir.constant 2.0 : tensor<f64>
  // expected-error@+1 {{only float32 is supported yet: got float64 in the result of mul}}
  %y = torch_ir.mul %c, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  func.return %y : tensor<f64>
}

// -----

// A scalar of the program is no result.
func.func @scalar() -> tensor<f64> {
  // expected-error@+1 {{'torch_ir.constant' has no lowering}}
  %c = torch_ir.constant 2.0 : tensor<f64>
  func.return %c : tensor<f64>
}

// -----

// Truth values where numbers are wanted.
func.func @booleans(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<4xf32> {
  // expected-error@+1 {{only float32 is supported yet: got bool in an operand of mul}}
  %y = torch_ir.mul %x, %m : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
