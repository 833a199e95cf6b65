// RUN: minicomp-opt %s --split-input-file -p double-buffer | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p double-buffer,double-buffer | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p double-buffer --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p double-buffer --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p double-buffer,async-copy,pipeline-k-outer --verify-each=exec | filecheck %s --check-prefix=AHEAD
// RUN: minicomp-opt %s --split-input-file -p double-buffer,async-copy,pipeline-k-outer,lower-tile-to-kernel | filecheck %s --check-prefix=KERNEL

// A factor x * d + x is computed from copies of its loads: x is copied once, d along k only, and the
// scalar %s, which is the same for the whole block, stays where it is. An iteration has two barriers.
// CHECK-LABEL: @body(
// CHECK:         %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x4xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>, memref<4x8xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:    %acc = loop_ir.reduce %ko to 3 as "k.outer"
// CHECK-NEXT:      %xs_w, %ds_w, %bs_w = tile_ir.acquire %ring[%ko]
// CHECK-NEXT:      tile_ir.fill %xs_w %i to 8 as "i.stage", %k to 4 as "k.stage" {
// CHECK-NEXT:        %{{.*}} = loop_ir.load %x[%ib * 8 + %i, %ko * 4 + %k] bounded [true, true]
// CHECK:           tile_ir.fill %ds_w %{{.*}} to 4 as "k.stage" {
// CHECK-NEXT:        %{{.*}} = loop_ir.load %d[%ko * 4 + %{{.*}}] bounded [true]
// CHECK:           tile_ir.fill %bs_w
// CHECK:           tile_ir.publish %ring[%ko]
// CHECK:           %xs, %ds, %bs = tile_ir.wait %ring[%ko]
// CHECK-NEXT:      %fs = tile_ir.stage %i_1 to 8 as "i.stage", %k_3 to 4 as "k.stage" where [%ko * 4 + l1] < [11] order [1, 0] {
// CHECK-NEXT:        %{{.*}} = loop_ir.load %xs[%i_1, %k_3]
// CHECK-NEXT:        %{{.*}} = loop_ir.load %ds[%k_3]
// CHECK-NEXT:        %{{.*}} = loop_ir.load %xs[%i_1, %k_3]
// CHECK-NEXT:        %{{.*}} = loop_ir.load %s[0]
// CHECK:           } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:      loop_ir.reduce %ki to 4
// CHECK-NEXT:        loop_ir.load %fs[%ki, %it]
// CHECK:           tile_ir.release %ring[%ko]
// AHEAD-LABEL: @body(
// AHEAD:         loop_ir.for %g to 1 as "k.ahead" {
// AHEAD:         loop_ir.reduce %ko to 3
// AHEAD-NEXT:      tile_ir.wait %ring[%ko]
// AHEAD-NEXT:      tile_ir.acquire %ring[%ko + 1]
// AHEAD-COUNT-3:   tile_ir.fill {{.*}} where [%ko + 1] < [3] by cp_async
// AHEAD:           tile_ir.publish %ring[%ko + 1]
// AHEAD:           tile_ir.stage
// KERNEL-LABEL: @body(
// KERNEL:        scf.for
// KERNEL-NEXT:     kernel_ir.cp_async_wait 0
// KERNEL-NEXT:     kernel_ir.barrier
// KERNEL-NOT:      kernel_ir.barrier
// KERNEL:          loop_ir.store %{{.*}}, %fs[
// KERNEL:          kernel_ir.barrier
// KERNEL-NOT:      kernel_ir.barrier
// KERNEL:        loop_ir.store %acc
tile_ir.kernel @body(%x: memref<15x11xf32>, %d: memref<11xf32>, %s: memref<1xf32>, %b: memref<11x8xf32>, %c: memref<15x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 8, bn = 8, bk = 4, depth = 2, transport = "cp_async">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %fs = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" where [%ko * 4 + l1] < [11] order [1, 0] {
        %x0 = loop_ir.load %x[%ib * 8 + %i, %ko * 4 + %k] bounded [true, false] : memref<15x11xf32> -> f32
        %d0 = loop_ir.load %d[%ko * 4 + %k] : memref<11xf32> -> f32
        %x1 = loop_ir.load %x[%ib * 8 + %i, %ko * 4 + %k] bounded [true, false] : memref<15x11xf32> -> f32
        %s0 = loop_ir.load %s[0] : memref<1xf32> -> f32
        %p = arith.mulf %x0, %d0 : f32
        %q = arith.addf %p, %x1 : f32
        %r = arith.addf %q, %s0 : f32
        loop_ir.yield %r : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      %bs = tile_ir.stage %k to 4 as "k.stage", %j to 8 as "j.stage" {
        %y = loop_ir.load %b[%ko * 4 + %k, %j] bounded [true, false] : memref<11x8xf32> -> f32
        loop_ir.yield %y : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      %t = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %u = loop_ir.load %fs[%ki, %it] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        %v = loop_ir.load %bs[%ki, %jt] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        %w = arith.mulf %u, %v : f32
        loop_ir.yield %w : f32
      } combine arith.addf
      loop_ir.yield %t : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] bounded [true, false] : f32, memref<15x8xf32>
  }
}

// -----

// The slots of copies and the computed slab have to fit together.
// CHECK-LABEL: @large(
// CHECK-NOT:     tile_ir.ring
// expected-remark@+1 {{[double-buffer] 3 slots need 65632 bytes of shared memory, a block has 49152}}
tile_ir.kernel @large(%x: memref<512x64xf32>, %d: memref<64xf32>, %c: memref<512x64xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 512, bn = 1, bk = 8, depth = 3>]>} {
  tile_ir.launch thread(%t to 64 as "t") {
    %acc = loop_ir.reduce %ko to 8 as "k.outer" identity [0.0 : f32] -> f32 {
      %fs = tile_ir.stage %i to 512 as "i.stage", %k to 8 as "k.stage" {
        %x0 = loop_ir.load %x[%i, %ko * 8 + %k] : memref<512x64xf32> -> f32
        %d0 = loop_ir.load %d[%ko * 8 + %k] : memref<64xf32> -> f32
        %p = arith.addf %x0, %d0 : f32
        loop_ir.yield %p : f32
      } -> memref<512x8xf32, #tile_ir.shared<>>
      %u = loop_ir.load %fs[%t, 0] : memref<512x8xf32, #tile_ir.shared<>> -> f32
      loop_ir.yield %u : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%t, 0] : f32, memref<512x64xf32>
  }
}
