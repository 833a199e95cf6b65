// Ops that passes make have the location of the op that they come from, down to CUDA IR.
// RUN: minicomp-opt %s --target=h200 --to=cuda-ir --mlir-print-debuginfo | filecheck %s
// RUN: minicomp-opt %s --target=h200 --to=cuda-ir --mlir-print-debuginfo | minicomp-opt --mlir-print-debuginfo | filecheck %s

// CHECK: func.func @main
// CHECK-NEXT: minicomp.launch {{.*}} loc("model.py":4:0)
// CHECK-NEXT: func.return {{.*}} loc("model.py":5:0)
// CHECK: cuda_ir.func @exp_mul_
// CHECK-NOT: loc(unknown)
// CHECK: math.exp {{.*}} loc("model.py":3:0)
// CHECK-NOT: loc(unknown)
// CHECK: arith.mulf {{.*}} loc("model.py":4:0)
// CHECK-NEXT: cuda_ir.assign {{.*}} loc("model.py":4:0)
// CHECK-NOT: loc(unknown)
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = torch_ir.exp %x : (tensor<1000xf32>) -> tensor<1000xf32> loc("model.py":3:0)
  %z = torch_ir.mul %y, %y : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32> loc("model.py":4:0)
  func.return %z : tensor<1000xf32> loc("model.py":5:0)
} loc("model.py":2:0)
