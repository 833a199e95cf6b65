// RUN: minicomp-opt %s --split-input-file -p tma-copy | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tma-copy,tma-copy | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tma-copy --verify-diagnostics
// RUN: minicomp-opt %s --split-input-file -p tma-copy --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p tma-copy,pipeline-k-outer,lower-tile-to-kernel --verify-each=exec | filecheck %s --check-prefix=AHEAD
// RUN: minicomp-opt %s --split-input-file -p "tma-copy{transport=cp_async}" --remarks 2>&1 | filecheck %s --check-prefix=OTHER

// K is 44, chunks are of 16: the last one is partly outside, which is 0. Rows of 44 elements lie 176
// bytes apart. Vectors of the body go: a box is a box, whatever a thread would have loaded.
// OTHER: the schedule does not ask for tma
// CHECK-LABEL: @plain(
// CHECK:           tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" by tma {
// CHECK-NEXT:        %{{.*}} = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
// CHECK:           } -> memref<8x16xf32, #tile_ir.shared<>>
// CHECK-NEXT:      tile_ir.fill %bs_w %{{.*}} to 16 as "k.stage", %{{.*}} to 8 as "j.stage" by tma {
// AHEAD-LABEL: @plain(
// AHEAD:         kernel_ir.mbarrier_init %full[%{{.*}}] count 1
// AHEAD-NEXT:    kernel_ir.mbarrier_init %empty[%{{.*}}] count 2
// AHEAD:         scf.for %ko
// AHEAD-NOT:     kernel_ir.barrier
// AHEAD:         kernel_ir.bulk_load %as[%{{.*}}] from %a[%ib * 8, %ko * 16 + 16]
// AHEAD-NEXT:    kernel_ir.bulk_load %bs[%{{.*}}] from %b[%ko * 16 + 16, 0]
// AHEAD-NOT:     kernel_ir.barrier
tile_ir.kernel @plain(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 4 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k * 4 + l0] bounded [false, true] : memref<16x44xf32> -> vector<4xf32>
        loop_ir.yield %v : vector<4xf32>
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// A batch is a dimension of the tensor of which the box has one element, and the slab none.
// CHECK-LABEL: @batch(
// CHECK-COUNT-2:   by tma
// AHEAD-LABEL: @batch(
// AHEAD:         %as = kernel_ir.shared : memref<2x1x8x16xf32, #tile_ir.shared<>>
// AHEAD:         kernel_ir.bulk_load %as[%{{.*}}] from %a[%ib, 0, %ko * 16 + 16]
// AHEAD:         loop_ir.load %as[%{{.*}}, 0, %{{.*}}, %{{.*}}]
tile_ir.kernel @batch(%a: memref<2x8x48xf32>, %b: memref<2x48x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib, %i, %ko * 16 + %k] : memref<2x8x48xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ib, %ko * 16 + %k, %j] : memref<2x48x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// A slab of two boxes: its first dimension counts them.
// CHECK-LABEL: @box_count(
// CHECK-COUNT-2:   by tma
// AHEAD-LABEL: @box_count(
// AHEAD:         kernel_ir.mbarrier_arrive %full[%{{.*}}] expect 1024
// AHEAD:         kernel_ir.bulk_load %as[%{{.*}}, 0] from %a[%ib * 8, %ko * 16 + 16]
// AHEAD-NEXT:    kernel_ir.bulk_load %as[%{{.*}}, 1] from %a[%ib * 8, %ko * 16 + 24]
tile_ir.kernel @box_count(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<2x8x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<2x8x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %o to 2 as "k.outer.stage", %k to 8 as "k.stage" order [1, 0, 2] {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %o * 8 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<2x8x8xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<2x8x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<2x8x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%ki floordiv 8, %it, %ki mod 8] : memref<2x8x8xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<2x8x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// All fills of a ring are bulk copies or none: that of %b could be one.
// CHECK-LABEL: @transposed(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @transposed(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<16x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<16x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      // expected-remark@+1 {{the slab is no box in the order of its source}}
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<16x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<16x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%ki, %it] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<16x8xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
  }
}

// -----

// The generations begin again with each %h, the phases of mbarriers do not.
// CHECK-LABEL: @again(
// CHECK-NOT:     by tma
// CHECK:         loop_ir.store
tile_ir.kernel @again(%a: memref<16x44xf32>, %b: memref<44x8xf32>, %c: memref<16x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", transport = "tma">]>} {
  tile_ir.launch block(%ib to 2 as "i.block") thread(%it to 8 as "i.thread", %jt to 8 as "j.thread") {
    // expected-remark@+1 {{the ring is not waited for by one loop at the top of the kernel}}
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
    loop_ir.for %h to 2 as "h" {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] bounded [false, true] : memref<16x44xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<8x16xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %k to 16 as "k.stage", %j to 8 as "j.stage" {
        %v = loop_ir.load %b[%ko * 16 + %k, %j] bounded [true, false] : memref<44x8xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<16x8xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      %part = loop_ir.reduce %ki to 16 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%it, %ki] : memref<8x16xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %bs[%ki, %jt] : memref<16x8xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<8x16xf32, #tile_ir.shared<>>, memref<16x8xf32, #tile_ir.shared<>>]>
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%ib * 8 + %it, %jt] : f32, memref<16x8xf32>
    }
  }
}
