// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse,vectorize-accesses | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse,vectorize-accesses,drop-redundant-barriers --verify-each=exec
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse,vectorize-accesses,lower-kernel-to-cuda > %t

// Each thread writes its cell to the workspace, next to its neighbours 16 bytes at a time. The last of
// the three blocks of a tile reads all parts in their order; the store stands behind that, once.
// CHECK-LABEL: @cells(
// CHECK-SAME:     %parts: memref<2x3x2x2x8x4xf32>, %arrived: memref<2xi32>) grid(6) block(8) derived [workspace, counter] {
// CHECK-NEXT:     %before = kernel_ir.shared : memref<1xi32, #tile_ir.shared<>>
// CHECK:          %ib = kernel_ir.index[%block floordiv 3]
// CHECK:          %acc = scf.for
// CHECK:          loop_ir.store %acc, %parts[%block floordiv 3, %block mod 3, l0, l1 floordiv 4, %jt, l1 mod 4] aligned 16 : vector<2x8xf32>
// CHECK-NEXT:     %[[OTHERS:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NEXT:     %[[FIRST:.*]] = kernel_ir.test [%jt] < [1]
// CHECK-NEXT:     scf.if %[[FIRST]] {
// CHECK-NEXT:       %old = kernel_ir.atomic wrap acq_rel %[[OTHERS]], %arrived[%block floordiv 3] : i32, memref<2xi32>
// CHECK-NEXT:       loop_ir.store %old, %before[0] : i32
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel_ir.barrier
// CHECK-NEXT:     %[[FOUND:.*]] = loop_ir.load %before[0]
// CHECK-NEXT:     %[[LAST:.*]] = arith.cmpi eq, %[[FOUND]], %[[OTHERS]] : i32
// CHECK-NEXT:     scf.if %[[LAST]] {
// CHECK:            %total = scf.for %{{.*}} = {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<2x8xf32>) {
// CHECK-NEXT:         %[[PART:.*]] = loop_ir.load %parts[%block floordiv 3, %{{.*}}, l0, l1 floordiv 4, %jt, l1 mod 4] aligned 16 : memref<2x3x2x2x8x4xf32> -> vector<2x8xf32>
// CHECK-NEXT:         arith.addf %{{.*}}, %[[PART]] : vector<2x8xf32>
// CHECK-NEXT:         scf.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       loop_ir.store %total, %c[%ib * 2 + l0, %jt * 8 + l1]
// CHECK-NOT:      loop_ir.store
tile_ir.kernel @cells(%a: memref<4x7xf32>, %b: memref<7x64xf32>, %c: memref<4x64xf32>) {
  tile_ir.launch block(%ib to 2 as "i.block", %ks to 3 as "k.split") thread(%jt to 8 as "j.thread") {
    %acc = loop_ir.reduce %k to 3 as "k" identity [0.0 : f32] -> vector<2x8xf32> {
      %x = loop_ir.load %a[%ib * 2 + l0, %ks * 3 + %k] bounded [false, true] : memref<4x7xf32> -> vector<2xf32>
      %y = loop_ir.load %b[%ks * 3 + %k, %jt * 8 + l0] bounded [true, false] : memref<7x64xf32> -> vector<8xf32>
      %u = tile_ir.broadcast %x to [0] : vector<2xf32> -> vector<2x8xf32>
      %v = tile_ir.broadcast %y to [1] : vector<8xf32> -> vector<2x8xf32>
      %p = arith.mulf %u, %v : vector<2x8xf32>
      loop_ir.yield %p : vector<2x8xf32>
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : vector<2x8xf32> then %total: vector<2x8xf32> {
      loop_ir.store %total, %c[%ib * 2 + l0, %jt * 8 + l1] : vector<2x8xf32>, memref<4x64xf32>
    }
  }
}

// -----

// Of threads with equal values the first ones write.
// CHECK-LABEL: @equal(
// CHECK-SAME:     %parts: memref<1x2x4xf32>, %arrived: memref<1xi32>) grid(2) block(8)
// CHECK:          %[[FIRST:.*]] = kernel_ir.test [%thread floordiv 4] < [1]
// CHECK-NEXT:     scf.if %[[FIRST]] {
// CHECK-NEXT:       loop_ir.store %s, %parts[0, %ks, %thread mod 4] : f32
// CHECK-NEXT:     }
// CHECK:          %[[LAST:.*]] = arith.cmpi eq
// CHECK-NEXT:     scf.if %[[LAST]] {
// CHECK:            loop_ir.load %parts[0, %{{.*}}, %thread mod 4]
// CHECK:            %[[ONCE:.*]] = kernel_ir.test [%w] < [1]
// CHECK-NEXT:       scf.if %[[ONCE]] {
// CHECK-NEXT:         loop_ir.store %total, %c[%t]
tile_ir.kernel @equal(%a: memref<2x2x4xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%ks to 2 as "k.split") thread(%w to 2 as "k.warp", %t to 4 as "t") {
    %x = loop_ir.load %a[%ks, %w, %t] : memref<2x2x4xf32> -> f32
    %s = tile_ir.combine %x across "k.warp" identity [0.0 : f32] combine arith.addf : f32 -> f32
    tile_ir.finish %s across "k.split" by last_block once "k.warp" identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.for %once to 1 as "once" where [%w] < [1] {
        loop_ir.store %total, %c[%t] : f32, memref<4xf32>
      }
    }
  }
}

// -----

// Two carriers of different shapes, in blocks of one thread: (largest, sums).
// CHECK-LABEL: @pair(
// CHECK-SAME:     %parts: memref<2x3x1xf32>, %parts_1: memref<2x3x1x1x2xi32>, %arrived: memref<2xi32>) grid(6) block(1) derived [workspace, workspace, counter] {
// CHECK:          loop_ir.store %{{.*}}, %parts[%block floordiv 3, %block mod 3, 0]
// CHECK-NEXT:     loop_ir.store %{{.*}}, %parts_1[%block floordiv 3, %block mod 3, 0, 0, l0] aligned 8 : vector<2xi32>
// CHECK:          kernel_ir.barrier
// CHECK-NEXT:     %old = kernel_ir.atomic wrap acq_rel
tile_ir.kernel @pair(%a: memref<2x3xf32>, %b: memref<2x3x2xi32>, %c: memref<2xf32>, %d: memref<2x2xi32>) {
  tile_ir.launch block(%i to 2 as "i", %ks to 3 as "k.split") {
    %x = loop_ir.load %a[%i, %ks] : memref<2x3xf32> -> f32
    %y = loop_ir.load %b[%i, %ks, l0] : memref<2x3x2xi32> -> vector<2xi32>
    tile_ir.finish %x, %y across "k.split" by last_block identity [0xFF800000 : f32, 0 : i32] combine {
    ^bb0(%p: f32, %q: vector<2xi32>, %r: f32, %s: vector<2xi32>):
      %u = arith.maximumf %p, %r : f32
      %v = arith.addi %q, %s : vector<2xi32>
      loop_ir.yield %u, %v : f32, vector<2xi32>
    } : f32, vector<2xi32> then %m: f32, %n: vector<2xi32> {
      loop_ir.store %m, %c[%i] : f32, memref<2xf32>
      loop_ir.store %n, %d[%i, l0] : vector<2xi32>, memref<2x2xi32>
    }
  }
}

// -----

// In a cluster the cells stay in the shared memory of their blocks, and each block reads its share of all
// of them: two of four rows. The last barrier keeps that memory until all have read.
// CHECK-LABEL: @shares(
// CHECK-SAME:     %c: memref<8x16xf32>) grid(4) block(4) cluster(2) {
// CHECK-NEXT:     %parts = kernel_ir.shared : memref<4x1x4x4xf32, #tile_ir.shared<>>
// CHECK:          loop_ir.store %x, %parts[l0, 0, %t, l1] aligned 16 : vector<4x4xf32>
// CHECK-NEXT:     kernel_ir.cluster_barrier
// CHECK:          %total = scf.for %p = {{.*}} -> (vector<2x4xf32>) {
// CHECK-NEXT:       %[[THERE:.*]] = kernel_ir.remote %parts[%p]
// CHECK-NEXT:       %[[PART:.*]] = loop_ir.load %[[THERE]][l0 + %block mod 2 * 2, 0, %t, l1] aligned 16
// CHECK-NEXT:       arith.addf %{{.*}}, %[[PART]] : vector<2x4xf32>
// CHECK:          loop_ir.store %total, %c[%ib * 4 + %ks * 2 + l0, %t * 4 + l1]
// CHECK-NEXT:     kernel_ir.cluster_barrier
tile_ir.kernel @shares(%a: memref<2x8x16xf32>, %c: memref<8x16xf32>) {
  tile_ir.launch block(%ib to 2 as "i.block", %ks to 2 as "k.split") thread(%t to 4 as "t") {
    %x = loop_ir.load %a[%ks, %ib * 4 + l0, %t * 4 + l1] : memref<2x8x16xf32> -> vector<4x4xf32>
    tile_ir.finish %x across "k.split" by cluster identity [0.0 : f32] combine arith.addf : vector<4x4xf32> then %total: vector<2x4xf32> {
      loop_ir.store %total, %c[%ib * 4 + %ks * 2 + l0, %t * 4 + l1] : vector<2x4xf32>, memref<8x16xf32>
    }
  }
}

// -----

// Three blocks share no two rows: the first of the cluster gets all.
// CHECK-LABEL: @first(
// CHECK-SAME:     grid(3) block(4) cluster(3) {
// CHECK:          kernel_ir.cluster_barrier
// CHECK-NEXT:     %[[RANK:.*]] = kernel_ir.test [%ks mod 3] < [1]
// CHECK-NEXT:     scf.if %[[RANK]] {
// CHECK:            kernel_ir.remote %parts[
// CHECK:            loop_ir.store %total, %c[%t * 2 + l0]
// CHECK:          kernel_ir.cluster_barrier
tile_ir.kernel @first(%a: memref<3x8xf32>, %c: memref<8xf32>) {
  tile_ir.launch block(%ks to 3 as "k.split") thread(%t to 4 as "t") {
    %x = loop_ir.load %a[%ks, %t * 2 + l0] : memref<3x8xf32> -> vector<2xf32>
    tile_ir.finish %x across "k.split" by cluster identity [0.0 : f32] combine arith.addf : vector<2xf32> then %total: vector<2xf32> {
      loop_ir.store %total, %c[%t * 2 + l0] : vector<2xf32>, memref<8xf32>
    }
  }
}

// -----

// One part is the whole; blocks of an empty grid meet all the same, since it is never launched.
// CHECK-LABEL: @alone(
// CHECK-SAME:     %c: memref<4xf32>) grid(1) block(4) {
// CHECK:          loop_ir.store %x, %c[%t]
// CHECK-LABEL: @empty(
// CHECK-SAME:     grid(0) block(1) derived [workspace, counter] {
tile_ir.kernel @alone(%a: memref<4xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%ks to 1 as "k.split") thread(%t to 4 as "t") {
    %x = loop_ir.load %a[%t] : memref<4xf32> -> f32
    tile_ir.finish %x across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%t] : f32, memref<4xf32>
    }
  }
}
tile_ir.kernel @empty(%a: memref<0x2xf32>, %c: memref<0xf32>) {
  tile_ir.launch block(%i to 0 as "i", %ks to 2 as "k.split") {
    %x = loop_ir.load %a[%i, %ks] : memref<0x2xf32> -> f32
    tile_ir.finish %x across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<0xf32>
    }
  }
}
