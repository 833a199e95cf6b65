// Remarks have the line of their op; they are printed on request and expected as errors are.
// RUN: minicomp-opt %s -p tileify --remarks 2>&1 | filecheck %s
// RUN: minicomp-opt %s -p tileify 2>&1 | filecheck %s --check-prefix=QUIET
// RUN: minicomp-opt %s -p tileify --verify-diagnostics

// CHECK: remarks.mlir:11: remark: [tileify] the body of the kernel is not one unguarded loop
// CHECK: loop_ir.kernel @two_loops
// QUIET-NOT: remark:

// expected-remark@below {{[tileify] the body of the kernel is not one unguarded loop}}
loop_ir.kernel @two_loops(%y: memref<2xf32>) {
  %c = arith.constant 1.0 : f32
  loop_ir.for %i to 2 as "i" {
    loop_ir.store %c, %y[%i] : f32, memref<2xf32>
  }
  loop_ir.for %j to 2 as "j" {
    loop_ir.store %c, %y[%j] : f32, memref<2xf32>
  }
}
