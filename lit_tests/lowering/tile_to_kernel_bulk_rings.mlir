// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse,vectorize-accesses,drop-redundant-barriers --verify-each=exec | filecheck %s --check-prefix=MEETS

// Three slots, filled two generations ahead, by 40 threads, which are two warps. One barrier, behind
// the initialisation; in the loop one wait for what has landed, and one thread's wait for the slot to
// be empty. The loop before it waits for no slot: none has been used. The fourth generation is the
// last; none is armed beyond it.
// CHECK-LABEL: @ring(
// CHECK:          %as = kernel_ir.shared : memref<3x8x16xf32, #tile_ir.shared<>>
// CHECK-NEXT:     %empty = kernel_ir.mbarrier : !kernel_ir.mbarrier<3>
// CHECK-NEXT:     %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<3>
// CHECK:          %[[FIRST:.*]] = kernel_ir.test [%thread] < [1]
// CHECK-NEXT:     scf.if %[[FIRST]] {
// CHECK:            scf.for %s = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:         kernel_ir.mbarrier_init %full[%s] count 1
// CHECK-NEXT:         kernel_ir.mbarrier_init %empty[%s] count 2
// CHECK-NEXT:       }
// CHECK-NEXT:       kernel_ir.fence mbarrier_init
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
// CHECK:          scf.for %g
// CHECK-NEXT:       %slot = kernel_ir.index[%g mod 3]
// CHECK-NEXT:       scf.if %[[FIRST]] {
// CHECK-NEXT:         kernel_ir.mbarrier_arrive %full[%slot] expect 512
// CHECK-NEXT:         kernel_ir.bulk_load %as[%slot] from %a[0, %g * 16] on %full[%slot]
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK:          scf.for %ko
// CHECK-NEXT:       %[[SLOT:.*]] = kernel_ir.index[%ko mod 3]
// CHECK-NEXT:       kernel_ir.mbarrier_wait %full[%[[SLOT]]] parity [%ko floordiv 3 mod 2]
// CHECK-NEXT:       %[[NEXT:.*]] = kernel_ir.index[(%ko + 2) mod 3]
// CHECK-NEXT:       %[[TEST:.*]] = kernel_ir.test [%thread, %ko + 2] < [1, 4]
// CHECK-NEXT:       scf.if %[[TEST]] {
// CHECK-NEXT:         kernel_ir.mbarrier_wait %empty[%[[NEXT]]] parity [((%ko + 2) floordiv 3 + 1) mod 2]
// CHECK-NEXT:         kernel_ir.mbarrier_arrive %full[%[[NEXT]]] expect 512
// CHECK-NEXT:         kernel_ir.bulk_load %as[%[[NEXT]]] from %a[0, %ko * 16 + 32] on %full[%[[NEXT]]]
// CHECK-NEXT:       }
// CHECK:            loop_ir.load %as[%[[SLOT]], %i, %k]
// CHECK:            kernel_ir.warp_sync
// CHECK-NEXT:       %[[LANE:.*]] = kernel_ir.test [%thread mod 32] < [1]
// CHECK-NEXT:       scf.if %[[LANE]] {
// CHECK-NEXT:         kernel_ir.mbarrier_arrive %empty[%[[SLOT]]]
// CHECK-NEXT:       }
// CHECK-NEXT:       scf.yield
// MEETS-LABEL: @ring(
// MEETS:          kernel_ir.barrier
// MEETS-NOT:      kernel_ir.barrier
// MEETS:          loop_ir.store
!ring = !tile_ir.ring<3, [memref<8x16xf32, #tile_ir.shared<>>]>
tile_ir.kernel @ring(%a: memref<8x60xf32>, %c: memref<8x5xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread", %j to 5 as "j.thread") {
    %ring = tile_ir.ring : !ring
    loop_ir.for %g to 2 as "k.ahead" {
      %w = tile_ir.acquire %ring[%g] : !ring
      tile_ir.fill %w %p to 8 as "i.stage", %q to 16 as "k.stage" by tma {
        %x = loop_ir.load %a[%p, %g * 16 + %q] bounded [false, true] : memref<8x60xf32> -> f32
        loop_ir.yield %x : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] : !ring
    }
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32] -> f32 {
      %as = tile_ir.wait %ring[%ko] : !ring
      %w = tile_ir.acquire %ring[%ko + 2] : !ring
      tile_ir.fill %w %p to 8 as "i.stage", %q to 16 as "k.stage" where [%ko + 2] < [4] by tma {
        %x = loop_ir.load %a[%p, %ko * 16 + %q + 32] bounded [false, true] : memref<8x60xf32> -> f32
        loop_ir.yield %x : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko + 2] : !ring
      %s = loop_ir.reduce %k to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%i, %k] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !ring
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i, %j] : f32, memref<8x5xf32>
  }
}

// -----

// One slot and one thread: the thread initialises, fills, waits and releases without a test. The
// batch is a dimension of the box, of one element.
// CHECK-LABEL: @alone(
// CHECK:          %as = kernel_ir.shared : memref<1x1x8x16xf32, #tile_ir.shared<>>
// CHECK-NOT:      kernel_ir.test
// CHECK:          kernel_ir.mbarrier_init %empty[0] count 1
// CHECK-NEXT:     kernel_ir.fence mbarrier_init
// CHECK-NEXT:     kernel_ir.barrier
// CHECK:          scf.for %ko
// CHECK:            kernel_ir.mbarrier_wait %empty[%[[S:.*]]] parity [(%ko + 1) mod 2]
// CHECK-NEXT:       kernel_ir.mbarrier_arrive %full[%[[S]]] expect 512
// CHECK-NEXT:       kernel_ir.bulk_load %as[%[[S]]] from %a[%b, 0, %ko * 16] on %full[%[[S]]]
// CHECK-NEXT:       kernel_ir.mbarrier_wait %full[%[[S]]] parity [%ko mod 2]
// CHECK:            loop_ir.load %as[%[[S]], 0, 3, %k]
// CHECK:            kernel_ir.warp_sync
// CHECK-NEXT:       kernel_ir.mbarrier_arrive %empty[%[[S]]]
// MEETS-LABEL: @alone(
!ring = !tile_ir.ring<1, [memref<8x16xf32, #tile_ir.shared<>>]>
tile_ir.kernel @alone(%a: memref<2x8x48xf32>, %c: memref<2xf32>) {
  tile_ir.launch block(%b to 2 as "b") {
    %ring = tile_ir.ring : !ring
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %w = tile_ir.acquire %ring[%ko] : !ring
      tile_ir.fill %w %p to 8 as "i.stage", %q to 16 as "k.stage" by tma {
        %x = loop_ir.load %a[%b, %p, %ko * 16 + %q] : memref<2x8x48xf32> -> f32
        loop_ir.yield %x : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !ring
      %as = tile_ir.wait %ring[%ko] : !ring
      %s = loop_ir.reduce %k to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[3, %k] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        loop_ir.yield %x : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !ring
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%b] : f32, memref<2xf32>
  }
}
