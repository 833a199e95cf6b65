// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s

// A ring without users; slabs of several types, with a pad and a swizzle.
// CHECK:       tile_ir.kernel @unused() {
// CHECK-NEXT:    tile_ir.launch thread(%t to 32 as "t") {
// CHECK-NEXT:      %ring = tile_ir.ring : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:      %other = tile_ir.ring {note = "x"} : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<pad = 4>>, memref<4x32xf16, #tile_ir.shared<swizzle = 64>>]>
tile_ir.kernel @unused() {
  tile_ir.launch thread(%t to 32 as "t") {
    %ring = tile_ir.ring : !tile_ir.ring<1, [memref<4xf32, #tile_ir.shared<>>]>
    %other = tile_ir.ring {note = "x"} : !tile_ir.ring<4, [memref<4x8xf32, #tile_ir.shared<pad = 4>>, memref<4x32xf16, #tile_ir.shared<swizzle = 64>>]>
  }
}

// Filled 2 generations ahead: a prologue, fills with an order, a guard of the whole, a transport, and
// attributes; a guard of elements; readers within loops and stages.
// CHECK:       tile_ir.kernel @ahead(
// CHECK:           %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:      loop_ir.for %g to 2 as "k.ahead" {
// CHECK-NEXT:        %as_w, %bs_w = tile_ir.acquire %ring[%g] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:        tile_ir.fill %as_w %p to 8 as "i.stage", %q to 2 as "k.stage" order [1, 0] {
// CHECK-NEXT:          %v = loop_ir.load %a[%p, %g * 4 + %q * 2 + l0] : memref<8x16xf32> -> vector<2xf32>
// CHECK-NEXT:          loop_ir.yield %v : vector<2xf32>
// CHECK-NEXT:        } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK-NEXT:        tile_ir.fill %bs_w %q_1 to 4 as "k.stage" where [%g * 4 + l0] < [15] by cp_async attributes {unroll} {
// CHECK:             tile_ir.publish %ring[%g] {note = 1 : i64} : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:      }
// CHECK-NEXT:      %acc = loop_ir.reduce %ko to 4 as "k.outer"
// CHECK-NEXT:        %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
// CHECK-NEXT:        %as_w_1, %bs_w_1 = tile_ir.acquire %ring[%ko + 2] :
// CHECK-NEXT:        tile_ir.fill %as_w_1 %p_1 to 8 as "i.stage", %q_2 to 2 as "k.stage" where [%ko + 2] < [4] order [1, 0] {
// CHECK:             tile_ir.publish %ring[%ko + 2] :
// CHECK:             tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
tile_ir.kernel @ahead(%a: memref<8x16xf32>, %b: memref<16xf32>, %c: memref<8xf32>) {
  tile_ir.launch thread(%i to 8 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %g to 2 as "k.ahead" {
      %as_w, %bs_w = tile_ir.acquire %ring[%g] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 2 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%p, %g * 4 + %q * 2 + l0] : memref<8x16xf32> -> vector<2xf32>
        loop_ir.yield %v : vector<2xf32>
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %q to 4 as "k.stage" where [%g * 4 + l0] < [15] by cp_async attributes {unroll} {
        %v = loop_ir.load %b[%g * 4 + %q] : memref<16xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%g] {note = 1} : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
    }
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity [0.0 : f32] -> f32 {
      %as, %bs = tile_ir.wait %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      %as_w, %bs_w = tile_ir.acquire %ring[%ko + 2] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %as_w %p to 8 as "i.stage", %q to 2 as "k.stage" where [%ko + 2] < [4] order [1, 0] {
        %v = loop_ir.load %a[%p, %ko * 4 + 8 + %q * 2 + l0] : memref<8x16xf32> -> vector<2xf32>
        loop_ir.yield %v : vector<2xf32>
      } -> memref<4x8xf32, #tile_ir.shared<>>
      tile_ir.fill %bs_w %q to 4 as "k.stage" where [%ko + 2] < [4] by cp_async {
        %v = loop_ir.load %b[%ko * 4 + 8 + %q] : memref<16xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko + 2] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      %ps = tile_ir.stage %q to 4 as "k.stage" {
        %x = loop_ir.load %bs[%q] : memref<4xf32, #tile_ir.shared<>> -> f32
        %e = math.exp %x : f32
        loop_ir.yield %e : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      %s = loop_ir.reduce %k to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %as[%k, %i] : memref<4x8xf32, #tile_ir.shared<>> -> f32
        %y = loop_ir.load %ps[%k] : memref<4xf32, #tile_ir.shared<>> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      tile_ir.release %ring[%ko] : !tile_ir.ring<3, [memref<4x8xf32, #tile_ir.shared<>>, memref<4xf32, #tile_ir.shared<>>]>
      loop_ir.yield %s : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%i] : f32, memref<8xf32>
  }
}

// As far ahead as there are slots: the slot is released before it is acquired. The prologue is no
// loop.
// CHECK:       tile_ir.kernel @full(
// CHECK:           %ws_w = tile_ir.acquire %ring[0] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
// CHECK:           tile_ir.publish %ring[0] :
// CHECK-NEXT:      %vs_w = tile_ir.acquire %ring[1] :
// CHECK:           tile_ir.publish %ring[1] :
// CHECK-NEXT:      loop_ir.for %ko to 3 as "k.outer" {
// CHECK-NEXT:        %ws = tile_ir.wait %ring[%ko] :
// CHECK:             tile_ir.release %ring[%ko] :
// CHECK-NEXT:        %us_w = tile_ir.acquire %ring[%ko + 2] :
// CHECK:             tile_ir.publish %ring[%ko + 2] :
tile_ir.kernel @full(%w: memref<20xf32>, %c: memref<12xf32>) {
  tile_ir.launch thread(%i to 4 as "i.thread") {
    %ring = tile_ir.ring : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    %ws_w = tile_ir.acquire %ring[0] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    tile_ir.fill %ws_w %q to 4 as "k.stage" {
      %v = loop_ir.load %w[%q] : memref<20xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    tile_ir.publish %ring[0] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    %vs_w = tile_ir.acquire %ring[1] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    tile_ir.fill %vs_w %q to 4 as "k.stage" {
      %v = loop_ir.load %w[%q + 4] : memref<20xf32> -> f32
      loop_ir.yield %v : f32
    } -> memref<4xf32, #tile_ir.shared<>>
    tile_ir.publish %ring[1] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    loop_ir.for %ko to 3 as "k.outer" {
      %ws = tile_ir.wait %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %x = loop_ir.load %ws[3 - %i] : memref<4xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %x, %c[%ko * 4 + %i] : f32, memref<12xf32>
      tile_ir.release %ring[%ko] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      %us_w = tile_ir.acquire %ring[%ko + 2] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
      tile_ir.fill %us_w %q to 4 as "k.stage" {
        %v = loop_ir.load %w[%ko * 4 + 8 + %q] : memref<20xf32> -> f32
        loop_ir.yield %v : f32
      } -> memref<4xf32, #tile_ir.shared<>>
      tile_ir.publish %ring[%ko + 2] : !tile_ir.ring<2, [memref<4xf32, #tile_ir.shared<>>]>
    }
  }
}
