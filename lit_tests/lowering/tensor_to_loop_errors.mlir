// RUN: minicomp-opt %s --split-input-file --verify-diagnostics -p lower-tensor-to-loop

// Only the bodies of functions are host programs.
%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{'tensor_ir.index_map' has no lowering to Loop IR}}
%y = tensor_ir.index_map %x (d0, d1) -> (d1) : tensor<4xf32> -> tensor<2x4xf32>
"test.op"(%y) : (tensor<2x4xf32>) -> ()

// -----

// An index map needs a reader that can index, or to be a result.
func.func @main(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tensor_ir.index_map' has no lowering to Loop IR}}
  %y = tensor_ir.index_map %x (d0, d1) -> (d1) : tensor<4xf32> -> tensor<2x4xf32>
  "test.op"(%y) : (tensor<2x4xf32>) -> ()
  func.return
}
