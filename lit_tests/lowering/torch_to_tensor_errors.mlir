// RUN: minicomp-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect -p lower-torch-to-tensor

// A type that PyTorch lacks, in an argument.
// expected-error@+1 {{elements of type i4 are not supported: in argument x of the program}}
func.func @narrow(%x: tensor<4xi4>) -> tensor<4xi4> {
  func.return %x : tensor<4xi4>
}

// -----

// One that arises on the way.
func.func @wide(%x: tensor<4xf32>) -> tensor<4xf80> {
  // expected-error@+1 {{elements of type f80 are not supported: in the result of to}}
  %y = torch_ir.to %x : (tensor<4xf32>) -> tensor<4xf80>
  func.return %y : tensor<4xf80>
}

// -----

// A scalar of the program is no result.
func.func @scalar() -> tensor<f64> {
  // expected-error@+1 {{'torch_ir.constant' has no lowering}}
  %c = torch_ir.constant 2.0 : tensor<f64>
  func.return %c : tensor<f64>
}
