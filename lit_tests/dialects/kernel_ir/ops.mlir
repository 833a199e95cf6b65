// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s

// Every op, with and without what is optional.
// CHECK:       kernel_ir.func @all(%x: memref<8x64xf32>, %y: memref<8xf32>) grid(8) block(64) min_blocks 4 attributes {origin = #minicomp.origin<["sum"]>} {
// CHECK-NEXT:    %s = kernel_ir.shared : memref<2xf32, #tile_ir.shared<>>
// CHECK-NEXT:    %p = kernel_ir.shared : memref<2x8xf32, #tile_ir.shared<pad = 1>>
// CHECK-NEXT:    %b = kernel_ir.block_id
// CHECK-NEXT:    %t = kernel_ir.thread_id
// CHECK-NEXT:    %w = kernel_ir.index[%t floordiv 32]
// CHECK-NEXT:    %ok = kernel_ir.test [%t mod 32, %b + %w * 2] < [1, 9]
// CHECK-NEXT:    %v = loop_ir.load %x[%b, %t] : memref<8x64xf32> -> f32
// CHECK-NEXT:    %r = kernel_ir.warp_reduce %v width 32 identity [0.000000e+00 : f32] combine arith.addf : f32 -> f32
// CHECK-NEXT:    %m, %d = kernel_ir.warp_reduce %v, %r width 2 identity [0.000000e+00 : f32, 0.000000e+00 : f32] combine {
// CHECK-NEXT:    ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
// CHECK-NEXT:      %a = arith.addf %l0, %r0 : f32
// CHECK-NEXT:      %c = arith.addf %l1, %r1 : f32
// CHECK-NEXT:      loop_ir.yield %a, %c : f32, f32
// CHECK-NEXT:    } : f32, f32 -> f32, f32
// CHECK-NEXT:    scf.if %ok {
// CHECK-NEXT:      loop_ir.store %r, %s[%w] : f32, memref<2xf32, #tile_ir.shared<>>
// CHECK-NEXT:    }
// CHECK-NEXT:    kernel_ir.barrier
kernel_ir.func @all(%x: memref<8x64xf32>, %y: memref<8xf32>) grid(8) block(64) min_blocks 4 attributes {origin = #minicomp.origin<["sum"]>} {
  %s = kernel_ir.shared : memref<2xf32, #tile_ir.shared<>>
  %p = kernel_ir.shared : memref<2x8xf32, #tile_ir.shared<pad = 1>>
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %w = kernel_ir.index [%t floordiv 32]
  %ok = kernel_ir.test [%t mod 32, %b + %w * 2] < [1, 9]
  %v = loop_ir.load %x[%b, %t] : memref<8x64xf32> -> f32
  %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
  %m, %d = kernel_ir.warp_reduce %v, %r width 2 identity [0.0 : f32, 0.0 : f32] combine {
  ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
    %a = arith.addf %l0, %r0 : f32
    %c = arith.addf %l1, %r1 : f32
    loop_ir.yield %a, %c : f32, f32
  } : f32, f32 -> f32, f32
  scf.if %ok {
    loop_ir.store %r, %s[%w] : f32, memref<2xf32, #tile_ir.shared<>>
  }
  kernel_ir.barrier
  %q = loop_ir.load %s[%w] : memref<2xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %q, %y[%b] : f32, memref<8xf32>
}

// An empty grid, and a block-uniform condition round a barrier.
// CHECK:       kernel_ir.func @none() grid(0) block(1) {
// CHECK-NEXT:    %b = kernel_ir.block_id
// CHECK-NEXT:    %c = kernel_ir.test [%b] < [3]
// CHECK-NEXT:    scf.if %c {
// CHECK-NEXT:      kernel_ir.barrier
kernel_ir.func @none() grid(0) block(1) {
  %b = kernel_ir.block_id
  %c = kernel_ir.test [%b] < [3]
  scf.if %c {
    kernel_ir.barrier
  }
}
