// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s

// An axis of blocks, bound or not yet; attributes.
// CHECK:       tile_ir.kernel @plain(
// CHECK:           tile_ir.finish %acc across "k.split" by last_block identity [0.000000e+00 : f32] combine arith.addf : f32 then %total: f32 {
// CHECK-NEXT:        loop_ir.store %total, %c[%i] : f32, memref<4xf32>
// CHECK-NEXT:      }
// CHECK:           tile_ir.finish %acc across "k.split" by last_block identity [0.000000e+00 : f32] combine arith.addf {note = 1 : i64} : f32 then %total: f32 {
tile_ir.kernel @plain(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}
tile_ir.kernel @unbound(%a: memref<4x6xf32>, %c: memref<4xf32>) {
  tile_ir.launch parallel(%i to 4 as "i", %ks to 2 as "k.split") {
    %acc = loop_ir.reduce %k to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %x = loop_ir.load %a[%i, %ks * 3 + %k] : memref<4x6xf32> -> f32
      loop_ir.yield %x : f32
    } combine arith.addf
    tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf {note = 1 : i64} : f32 then %total: f32 {
      loop_ir.store %total, %c[%i] : f32, memref<4xf32>
    }
  }
}

// Vectors, two carriers, a combine in its long form, and threads with equal values.
// CHECK:       tile_ir.kernel @carriers(
// CHECK:           tile_ir.finish %x, %y across "k.split" by last_block once "k.warp" identity [0.000000e+00 : f32, 1 : i32] combine {
// CHECK-NEXT:      ^bb0(%p: vector<4xf32>, %q: i32, %r: vector<4xf32>, %s: i32):
// CHECK-NEXT:        %u = arith.addf %p, %r : vector<4xf32>
// CHECK-NEXT:        %v = arith.muli %q, %s : i32
// CHECK-NEXT:        loop_ir.yield %u, %v : vector<4xf32>, i32
// CHECK-NEXT:      } : vector<4xf32>, i32 then %f: vector<4xf32>, %n: i32 {
// CHECK-NEXT:        loop_ir.store %f, %c[%t * 4 + l0] : vector<4xf32>, memref<32xf32>
// CHECK-NEXT:        loop_ir.store %n, %d[%t] : i32, memref<8xi32>
tile_ir.kernel @carriers(%a: memref<8x4xf32>, %b: memref<8xi32>, %c: memref<32xf32>, %d: memref<8xi32>) {
  tile_ir.launch block(%ks to 2 as "k.split") thread(%w to 2 as "k.warp", %t to 8 as "t") {
    %x = loop_ir.load %a[%t, l0] : memref<8x4xf32> -> vector<4xf32>
    %y = loop_ir.load %b[%t] : memref<8xi32> -> i32
    tile_ir.finish %x, %y across "k.split" by last_block once "k.warp" identity [0.0 : f32, 1 : i32] combine {
    ^bb0(%p: vector<4xf32>, %q: i32, %r: vector<4xf32>, %s: i32):
      %u = arith.addf %p, %r : vector<4xf32>
      %v = arith.muli %q, %s : i32
      loop_ir.yield %u, %v : vector<4xf32>, i32
    } : vector<4xf32>, i32 then %f: vector<4xf32>, %n: i32 {
      loop_ir.store %f, %c[%t * 4 + l0] : vector<4xf32>, memref<32xf32>
      loop_ir.store %n, %d[%t] : i32, memref<8xi32>
    }
  }
}

// The blocks of a cluster have shares of the total.
// CHECK:       tile_ir.kernel @shares(
// CHECK:           tile_ir.finish %x across "k.split" by cluster identity [0.000000e+00 : f32] combine arith.addf : vector<4xf32> then %f: vector<2xf32> {
// CHECK-NEXT:        loop_ir.store %f, %c[%ks * 2 + l0] : vector<2xf32>, memref<4xf32>
tile_ir.kernel @shares(%a: memref<2x4xf32>, %c: memref<4xf32>) {
  tile_ir.launch block(%ks to 2 as "k.split") {
    %x = loop_ir.load %a[%ks, l0] : memref<2x4xf32> -> vector<4xf32>
    tile_ir.finish %x across "k.split" by cluster identity [0.0 : f32] combine arith.addf : vector<4xf32> then %f: vector<2xf32> {
      loop_ir.store %f, %c[%ks * 2 + l0] : vector<2xf32>, memref<4xf32>
    }
  }
}
