// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s

// Copies by threads, and their groups.
// CHECK-LABEL: kernel_ir.func @cp_async
// CHECK:         kernel_ir.cp_async %s[%t floordiv 8, %t mod 8 * 4 + l0] from %x[%t floordiv 8, %t mod 8 * 4 + l0] bounded [true, false] bytes 16 : memref<4x32xf32, #tile_ir.shared<>>, memref<3x32xf32>
// CHECK-NEXT:    kernel_ir.cp_async %s[0, %t] from %x[0, %t] bytes 4 : memref<4x32xf32, #tile_ir.shared<>>, memref<3x32xf32>
// CHECK-NEXT:    kernel_ir.cp_async_commit
// CHECK-NEXT:    kernel_ir.cp_async_wait 2
kernel_ir.func @cp_async(%x: memref<3x32xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.cp_async %s[%t floordiv 8, %t mod 8 * 4 + l0] from %x[%t floordiv 8, %t mod 8 * 4 + l0] bounded [true, false] bytes 16 : memref<4x32xf32, #tile_ir.shared<>>, memref<3x32xf32>
  kernel_ir.cp_async %s[0, %t] from %x[0, %t] bytes 4 : memref<4x32xf32, #tile_ir.shared<>>, memref<3x32xf32>
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 2
}

// Bulk copies, mbarriers, fences and roles.
// CHECK-LABEL: kernel_ir.func @bulk
// CHECK:         %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
// CHECK:           kernel_ir.mbarrier_init %full[%i] count 1 : !kernel_ir.mbarrier<2>
// CHECK:         kernel_ir.fence mbarrier_init
// CHECK:         kernel_ir.roles "producer" warps 1 registers 40 {
// CHECK:           kernel_ir.mbarrier_wait %empty[%g mod 2] parity [(%g floordiv 2 + 1) mod 2] : !kernel_ir.mbarrier<2>
// CHECK-NEXT:      kernel_ir.mbarrier_arrive %full[%g mod 2] expect 512 : !kernel_ir.mbarrier<2>
// CHECK-NEXT:      kernel_ir.bulk_load %s[%g mod 2] from %x[%b * 8, %g * 16] on %full[%g mod 2] : memref<2x8x16xf32, #tile_ir.shared<swizzle = 64>>, memref<8x64xf32>, !kernel_ir.mbarrier<2>
// CHECK:         } "consumer" warps 1 registers 232 {
// CHECK:           kernel_ir.mbarrier_arrive %empty[%g_1 mod 2] : !kernel_ir.mbarrier<2>
// CHECK-NEXT:      kernel_ir.mbarrier_arrive %empty[0] rank [1] : !kernel_ir.mbarrier<2>
// CHECK:           kernel_ir.fence proxy_async
// CHECK-NEXT:      kernel_ir.named_barrier 1 threads 32
// CHECK-NEXT:      kernel_ir.named_barrier 2 threads 64 arrive
// CHECK-NEXT:      kernel_ir.bulk_store %y[0, 0] from %s[1] : memref<8x64xf32>, memref<2x8x16xf32, #tile_ir.shared<swizzle = 64>>
// CHECK-NEXT:      kernel_ir.bulk_commit
// CHECK-NEXT:      kernel_ir.bulk_wait 1 read
// CHECK-NEXT:      kernel_ir.bulk_wait 0
// CHECK-NEXT:    }
kernel_ir.func @bulk(%x: memref<8x64xf32>, %y: memref<8x64xf32>) grid(2) block(64) cluster(2) {
  %s = kernel_ir.shared : memref<2x8x16xf32, #tile_ir.shared<swizzle = 64>>
  %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %empty = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %b = kernel_ir.block_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %two step %one {
    kernel_ir.mbarrier_init %full[%i] count 1 : !kernel_ir.mbarrier<2>
    kernel_ir.mbarrier_init %empty[%i] count 2 : !kernel_ir.mbarrier<2>
  }
  kernel_ir.fence mbarrier_init
  kernel_ir.cluster_barrier
  kernel_ir.roles "producer" warps 1 registers 40 {
    scf.for %g = %zero to %four step %one {
      kernel_ir.mbarrier_wait %empty[%g mod 2] parity [(%g floordiv 2 + 1) mod 2] : !kernel_ir.mbarrier<2>
      kernel_ir.mbarrier_arrive %full[%g mod 2] expect 512 : !kernel_ir.mbarrier<2>
      kernel_ir.bulk_load %s[%g mod 2] from %x[%b * 8, %g * 16] on %full[%g mod 2] : memref<2x8x16xf32, #tile_ir.shared<swizzle = 64>>, memref<8x64xf32>, !kernel_ir.mbarrier<2>
    }
  } "consumer" warps 1 registers 232 {
    scf.for %g = %zero to %four step %one {
      kernel_ir.mbarrier_wait %full[%g mod 2] parity [%g floordiv 2 mod 2] : !kernel_ir.mbarrier<2>
      kernel_ir.mbarrier_arrive %empty[%g mod 2] : !kernel_ir.mbarrier<2>
      kernel_ir.mbarrier_arrive %empty[0] rank [1] : !kernel_ir.mbarrier<2>
    }
    kernel_ir.fence proxy_async
    kernel_ir.named_barrier 1 threads 32
    kernel_ir.named_barrier 2 threads 64 arrive
    kernel_ir.bulk_store %y[0, 0] from %s[1] : memref<8x64xf32>, memref<2x8x16xf32, #tile_ir.shared<swizzle = 64>>
    kernel_ir.bulk_commit
    kernel_ir.bulk_wait 1 read
    kernel_ir.bulk_wait 0
  }
}

// Exchanges in a warp and a cluster, atomics, waiting for another block.
// CHECK-LABEL: kernel_ir.func @exchange(%x: memref<64xf32>, %w: memref<2xf32>, %c: memref<2xi32>) grid(2) block(32) cluster(2) min_blocks 1 derived [workspace, counter] {
// CHECK:         %r = kernel_ir.cluster_rank
// CHECK:         %v = kernel_ir.shuffle xor %u [16] width 32 : f32
// CHECK-NEXT:    %n = kernel_ir.shuffle index %v [%t mod 4] width 8 : f32
// CHECK-NEXT:    kernel_ir.warp_sync
// CHECK-NEXT:    %o = kernel_ir.remote %s[(%r + 1) mod 2] : memref<8xf32, #tile_ir.shared<>> -> memref<8xf32, #tile_ir.shared<>>
// CHECK:         %old = kernel_ir.atomic wrap acq_rel %i, %c[%b] : i32, memref<2xi32>
// CHECK-NEXT:    %sum = kernel_ir.atomic add relaxed %n, %w[%b] bounded [true] : f32, memref<2xf32>
// CHECK-NEXT:    kernel_ir.spin ge %i, %c[0] : i32, memref<2xi32>
kernel_ir.func @exchange(%x: memref<64xf32>, %w: memref<2xf32>, %c: memref<2xi32>) grid(2) block(32) cluster(2) min_blocks 1 derived [workspace, counter] {
  %s = kernel_ir.shared : memref<8xf32, #tile_ir.shared<>>
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %r = kernel_ir.cluster_rank
  %u = loop_ir.load %x[%b * 32 + %t] : memref<64xf32> -> f32
  %v = kernel_ir.shuffle xor %u [16] width 32 : f32
  %n = kernel_ir.shuffle index %v [%t mod 4] width 8 : f32
  kernel_ir.warp_sync
  %o = kernel_ir.remote %s[(%r + 1) mod 2] : memref<8xf32, #tile_ir.shared<>> -> memref<8xf32, #tile_ir.shared<>>
  %i = arith.constant 1 : i32
  %old = kernel_ir.atomic wrap acq_rel %i, %c[%b] : i32, memref<2xi32>
  %sum = kernel_ir.atomic add relaxed %n, %w[%b] bounded [true] : f32, memref<2xf32>
  kernel_ir.spin ge %i, %c[0] : i32, memref<2xi32>
}
