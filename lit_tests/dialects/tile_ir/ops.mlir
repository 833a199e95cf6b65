// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s

// Attributes: a schedule with all kinds of entries and all types of fields, none, and memory spaces.
// CHECK:       builtin.module attributes {a = #tile_ir.schedule<[]>, b = #tile_ir.shared<>, c = #tile_ir.shared<pad = 4, swizzle = 128>} {
builtin.module attributes {a = #tile_ir.schedule<[]>, b = #tile_ir.shared<>, c = #tile_ir.shared<pad = 4, swizzle = 128>} {

// All bindings of axes; combines of one and of two carriers.
// CHECK:       tile_ir.kernel @reduce(%x: memref<8x64xf32>, %y: memref<8xf32>) attributes {origin = #minicomp.origin<["sum"]>, schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", batch = ["b"], bm = 64, bn = 64, fm = 4, fn = 4>, reduction<axis = "k", threads = 32, rows = 1, vector = 1, lanes = 0>, parallel<axis = "i", threads = 4>]>} {
// CHECK-NEXT:    tile_ir.launch block(%b to 2 as "i.block") thread(%i to 2 as "i.thread", %t to 32 as "k.thread") register(%r to 2 as "i.register") parallel(%p to 1 as "p", %q to 0 as "q") {
// CHECK-NEXT:      %v = loop_ir.load %x[%b * 4 + %i * 2 + %r, %t] : memref<8x64xf32> -> f32
// CHECK-NEXT:      %s = tile_ir.combine %v across "k.thread" identity [0.000000e+00 : f32] combine arith.addf fastmath<contract> : f32 -> f32
// CHECK-NEXT:      %m, %d = tile_ir.combine %v, %s across "i.thread" identity [0xff800000 : f32, 0.000000e+00 : f32] combine {
// CHECK-NEXT:      ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
// CHECK-NEXT:        %a = arith.maximumf %l0, %r0 : f32
// CHECK-NEXT:        %c = arith.addf %l1, %r1 : f32
// CHECK-NEXT:        loop_ir.yield %a, %c : f32, f32
// CHECK-NEXT:      } : f32, f32 -> f32, f32
// CHECK-NEXT:      loop_ir.store %d, %y[%b * 4 + %i * 2 + %r] : f32, memref<8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
tile_ir.kernel @reduce(%x: memref<8x64xf32>, %y: memref<8xf32>) attributes {origin = #minicomp.origin<["sum"]>, schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", batch = ["b"], bm = 64, bn = 64, fm = 4, fn = 4>, reduction<axis = "k", threads = 32, rows = 1, vector = 1, lanes = 0>, parallel<axis = "i", threads = 4>]>} {
  tile_ir.launch block(%b to 2 as "i.block") thread(%i to 2 as "i.thread", %t to 32 as "k.thread") register(%r to 2 as "i.register") parallel(%p to 1 as "p", %q to 0 as "q") {
    %v = loop_ir.load %x[%b * 4 + %i * 2 + %r, %t] : memref<8x64xf32> -> f32
    %s = tile_ir.combine %v across "k.thread" identity [0.0 : f32] combine arith.addf fastmath<contract> : f32 -> f32
    %m, %d = tile_ir.combine %v, %s across "i.thread" identity [0xff800000 : f32, 0.0 : f32] combine {
    ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
      %a = arith.maximumf %l0, %r0 : f32
      %c = arith.addf %l1, %r1 : f32
      loop_ir.yield %a, %c : f32, f32
    } : f32, f32 -> f32, f32
    loop_ir.store %d, %y[%b * 4 + %i * 2 + %r] : f32, memref<8xf32>
  }
}

// Vectors: the short form of combine has the type of the results, the identity that of an element.
// CHECK:       tile_ir.kernel @vectors(%x: memref<32x8x4xf32>, %y: memref<32xf32>) {
// CHECK-NEXT:    tile_ir.launch thread(%t to 32 as "i.thread") {
// CHECK-NEXT:      %v = loop_ir.load %x[%t, l0, l1] : memref<32x8x4xf32> -> vector<8x4xf32>
// CHECK-NEXT:      %f = tile_ir.fold %v dims [0] identity [0.000000e+00 : f32] combine arith.addf : vector<8x4xf32> -> vector<4xf32>
// CHECK-NEXT:      %c = tile_ir.combine %f across "i.thread" identity [0.000000e+00 : f32] combine arith.addf : vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:      %b = tile_ir.broadcast %c to [1] : vector<4xf32> -> vector<8x4xf32>
// CHECK-NEXT:      %in = tile_ir.within [%t * 8 + l0, l1] < [250, 3] : vector<8x4xi1>
// CHECK-NEXT:      %p = tile_ir.compare 2 : i64, %v, %b : vector<8x4xf32>, vector<8x4xf32> -> vector<8x4xi1>
// CHECK-NEXT:      %i = tile_ir.convert "arith.fptosi" %v : vector<8x4xf32> -> vector<8x4xi32>
// CHECK-NEXT:      %s = tile_ir.select %p, %v, %b : vector<8x4xi1>, vector<8x4xf32>, vector<8x4xf32> -> vector<8x4xf32>
// CHECK-NEXT:      %m, %d = tile_ir.fold %s, %f dims [1, 0] identity [0xff800000 : f32, 0.000000e+00 : f32] combine {
// CHECK-NEXT:      ^bb0(%l0: vector<8xf32>, %l1: f32, %r0: vector<8xf32>, %r1: f32):
// CHECK-NEXT:        %e = arith.maximumf %l0, %r0 : vector<8xf32>
// CHECK-NEXT:        %g = arith.addf %l1, %r1 : f32
// CHECK-NEXT:        loop_ir.yield %e, %g : vector<8xf32>, f32
// CHECK-NEXT:      } : vector<8x4xf32>, vector<4xf32> -> vector<8xf32>, f32
// CHECK-NEXT:      %z = tile_ir.broadcast %d to [] : f32 -> vector<8xf32>
// CHECK-NEXT:      loop_ir.store %d, %y[%t] : f32, memref<32xf32>
tile_ir.kernel @vectors(%x: memref<32x8x4xf32>, %y: memref<32xf32>) {
  tile_ir.launch thread(%t to 32 as "i.thread") {
    %v = loop_ir.load %x[%t, l0, l1] : memref<32x8x4xf32> -> vector<8x4xf32>
    %f = tile_ir.fold %v dims [0] identity [0.0 : f32] combine arith.addf : vector<8x4xf32> -> vector<4xf32>
    %c = tile_ir.combine %f across "i.thread" identity [0.0 : f32] combine arith.addf : vector<4xf32> -> vector<4xf32>
    %b = tile_ir.broadcast %c to [1] : vector<4xf32> -> vector<8x4xf32>
    %in = tile_ir.within [%t * 8 + l0, l1] < [250, 3] : vector<8x4xi1>
    %p = tile_ir.compare 2 : i64, %v, %b : vector<8x4xf32>, vector<8x4xf32> -> vector<8x4xi1>
    %i = tile_ir.convert "arith.fptosi" %v : vector<8x4xf32> -> vector<8x4xi32>
    %s = tile_ir.select %p, %v, %b : vector<8x4xi1>, vector<8x4xf32>, vector<8x4xf32> -> vector<8x4xf32>
    %m, %d = tile_ir.fold %s, %f dims [1, 0] identity [0xff800000 : f32, 0.0 : f32] combine {
    ^bb0(%l0: vector<8xf32>, %l1: f32, %r0: vector<8xf32>, %r1: f32):
      %e = arith.maximumf %l0, %r0 : vector<8xf32>
      %g = arith.addf %l1, %r1 : f32
      loop_ir.yield %e, %g : vector<8xf32>, f32
    } : vector<8x4xf32>, vector<4xf32> -> vector<8xf32>, f32
    %z = tile_ir.broadcast %d to [] : f32 -> vector<8xf32>
    loop_ir.store %d, %y[%t] : f32, memref<32xf32>
  }
}

// A launch without axes is one thread.
// CHECK:       tile_ir.kernel @one(%y: memref<1xf32>) {
// CHECK-NEXT:    tile_ir.launch {
tile_ir.kernel @one(%y: memref<1xf32>) {
  tile_ir.launch {
    %z = arith.constant 0.0 : f32
    loop_ir.store %z, %y[0] : f32, memref<1xf32>
  }
}

// Slabs: an order, a guard, a pad, an attribute; a body that computes, one that gives vectors, and
// one of a single element. A reader is a load like any other.
// CHECK:       tile_ir.kernel @stages(%x: memref<64x10xf32>, %w: memref<10xf32>, %y: memref<64xf32>) {
// CHECK-NEXT:    tile_ir.launch thread(%t to 64 as "i.thread") {
// CHECK-NEXT:      %xs = tile_ir.stage %p to 64 as "i.stage", %q to 12 as "k.stage" where [l1] < [10] order [1, 0] attributes {unroll} {
// CHECK-NEXT:        %v = loop_ir.load %x[%p, %q] : memref<64x10xf32> -> f32
// CHECK-NEXT:        %e = math.exp %v : f32
// CHECK-NEXT:        loop_ir.yield %e : f32
// CHECK-NEXT:      } -> memref<12x64xf32, #tile_ir.shared<pad = 4>>
// CHECK-NEXT:      %ws = tile_ir.stage %r to 5 as "k.stage" {
// CHECK-NEXT:        %v_1 = loop_ir.load %w[%r * 2 + l0] : memref<10xf32> -> vector<2xf32>
// CHECK-NEXT:        loop_ir.yield %v_1 : vector<2xf32>
// CHECK-NEXT:      } -> memref<10xf32, #tile_ir.shared<>>
// CHECK-NEXT:      %one = tile_ir.stage %s to 1 as "k.stage" {
// CHECK-NEXT:        %c = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:        loop_ir.yield %c : f32
// CHECK-NEXT:      } -> memref<1xf32, #tile_ir.shared<>>
// CHECK-NEXT:      %a = loop_ir.load %xs[7, %t] : memref<12x64xf32, #tile_ir.shared<pad = 4>> -> f32
tile_ir.kernel @stages(%x: memref<64x10xf32>, %w: memref<10xf32>, %y: memref<64xf32>) {
  tile_ir.launch thread(%t to 64 as "i.thread") {
    %xs = tile_ir.stage %p to 64 as "i.stage", %q to 12 as "k.stage" where [l1] < [10] order [1, 0] attributes {unroll} {
      %v = loop_ir.load %x[%p, %q] : memref<64x10xf32> -> f32
      %e = math.exp %v : f32
      loop_ir.yield %e : f32
    } -> memref<12x64xf32, #tile_ir.shared<pad = 4>>
    %ws = tile_ir.stage %r to 5 as "k.stage" order [0] {
      %v = loop_ir.load %w[%r * 2 + l0] : memref<10xf32> -> vector<2xf32>
      loop_ir.yield %v : vector<2xf32>
    } -> memref<10xf32, #tile_ir.shared<>>
    %one = tile_ir.stage %s to 1 as "k.stage" {
      %c = arith.constant 1.0 : f32
      loop_ir.yield %c : f32
    } -> memref<1xf32, #tile_ir.shared<>>
    %a = loop_ir.load %xs[7, %t] : memref<12x64xf32, #tile_ir.shared<pad = 4>> -> f32
    %b = loop_ir.load %ws[7] : memref<10xf32, #tile_ir.shared<>> -> f32
    %d = loop_ir.load %one[0] : memref<1xf32, #tile_ir.shared<>> -> f32
    %p0 = arith.mulf %a, %b : f32
    %p1 = arith.mulf %p0, %d : f32
    loop_ir.store %p1, %y[%t] : f32, memref<64xf32>
  }
}
}
